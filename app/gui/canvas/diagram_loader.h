#pragma once

#include "app/draw/scene.h"
#include "app/gui/document/jobs.h"
#include "core/graph/module_tree.h"
#include "core/layout/layout.h"

#include <functional>
#include <memory>

namespace workbench::gui {

/// What is drawn from. Shared, so that a thread may finish with it after the document has moved on.
struct DiagramSource {
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const ModuleTree> tree; ///< null: made in the thread, once per graph
};

/// A scene and the request that it answers.
struct Picture {
    DiagramSource source;
    DiagramRequest request;
    std::shared_ptr<const Scene> scene;
};

/// Builds and lays out diagrams in a thread, the last one asked for: an earlier one is cancelled.
class DiagramLoader : public QObject {
    Q_OBJECT
public:
    explicit DiagramLoader(const Locations& locations, QObject* parent = nullptr);
    ~DiagramLoader() override;

    using MakeRequest = std::function<DiagramRequest(const Graph&, const ModuleTree&)>;
    /// `make` runs in the thread and must not touch anything of the window.
    void load(const DiagramSource& source, MakeRequest make);
    void cancel(); ///< failed() follows, with the code `cancelled`
    bool busy() const { return m_running.valid(); }

Q_SIGNALS:
    void loaded(const workbench::gui::Picture& picture);
    void failed(const workbench::Error& error);
    void busyChanged(bool busy);

private:
    void finish(std::int64_t ticket, const Result<Picture>& result);

    std::shared_ptr<LayoutEngine> m_engine;
    DiagramSource m_known; ///< the last graph with its tree
    JobHandle m_running;
    std::int64_t m_ticket = 0; ///< of the last load: results of earlier ones are dropped
    Jobs m_jobs;               ///< last: its threads end first
};

} // namespace workbench::gui
