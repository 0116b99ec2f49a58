#pragma once

#include "app/gui/document/jobs.h"
#include "app/session/autosave.h"

#include <QtCore/QTimer>

#include <optional>

namespace workbench::gui {

/// Keeps unsaved work of a document in the cache, a moment after each change, so that a crash loses nothing.
class Autosaver : public QObject {
    Q_OBJECT
public:
    explicit Autosaver(Jobs& jobs, std::filesystem::path cache, QObject* parent = nullptr);

    struct Work {
        Session session;
        Autosaved about; ///< without the plan
    };
    /// Something is unsaved: `work` is asked for it when the moment has passed.
    void keep(std::function<Work()> work);
    void forget(); ///< nothing is unsaved

Q_SIGNALS:
    void failed(const Error& error); ///< once: the disk is full, say

private:
    void write();
    void ended(const Status& written);

    struct Slot;
    Jobs& m_jobs;
    std::filesystem::path m_cache;
    std::shared_ptr<Slot> m_slot; ///< used in one thread at a time
    std::function<Work()> m_work;
    QTimer m_timer;
    bool m_wanted = false;
    bool m_writing = false;
    bool m_told = false;
};

} // namespace workbench::gui
