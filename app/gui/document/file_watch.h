#pragma once

#include "app/gui/document/jobs.h"
#include "app/session/file_stamps.h"
#include "app/session/plan_store.h"

#include <QtCore/QTimer>

namespace workbench::gui {

/// Notices that a model's files or a plan were replaced on disk. Looks every few seconds, in a thread: that
/// works on every file system, and a look is a few calls of stat.
class FileWatch : public QObject {
    Q_OBJECT
public:
    explicit FileWatch(Jobs& jobs, QObject* parent = nullptr);

    void watchModel(std::shared_ptr<const TracedModel> model);     ///< as it is now
    void watchPlan(const QString& file, const FileContent& known); ///< "": none
    void look();

Q_SIGNALS:
    void modelReplaced(); ///< once, until it is watched anew
    void planReplaced();

private:
    struct Watched {
        std::shared_ptr<const TracedModel> model;
        std::optional<FileStamps> stamps; ///< none: not looked at yet
        QString plan;
        FileContent planContent;
    };
    struct Seen {
        FileStamps stamps;
        bool planChanged = false;
    };
    static Seen seen(const Watched& watched);
    void take(const Seen& now);

    Jobs& m_jobs;
    QTimer m_timer;
    Watched m_watched;
    int m_turn = 0; ///< counts what is watched: a look at something earlier says nothing
    bool m_looking = false;
    bool m_toldModel = false;
    bool m_toldPlan = false;
};

} // namespace workbench::gui
