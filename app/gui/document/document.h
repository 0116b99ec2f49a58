#pragma once

#include "app/gui/document/autosaver.h"
#include "app/gui/document/file_watch.h"
#include "app/gui/document/jobs.h"
#include "app/session/node_times.h"
#include "app/session/site_evidence.h"
#include "core/graph/module_tree.h"

#include <QtCore/QPointer>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace workbench::gui {

struct OpenRequest {
    QString model; ///< directory, .pt2 archive, or org/name[@revision]
    TraceOptions trace;
    QString plan;                             ///< a plan to start from; may be empty
    std::shared_ptr<const Autosaved> unsaved; ///< work of a window that is gone, to go on with
    std::shared_ptr<const Choices> choices;   ///< of the same model as it was before
};

/// One model in a tab. Lives in the GUI thread and never blocks it: long work runs in threads on copies of
/// its session.
class Document : public QObject {
    Q_OBJECT
public:
    enum class State { empty, opening, ready, failed };
    Q_ENUM(State)
    /// What an opening leaves.
    struct Opened {
        Session session;
        std::shared_ptr<const ModuleTree> tree;
        std::shared_ptr<const Rewritten> rewritten;
        FileContent planContent;
        Choices saved;                 ///< what the plan's file says
        std::vector<std::string> lost; ///< sites of the request's choices that are gone
        std::string notice;            ///< of the plan's proofs; "": none
    };

    explicit Document(Locations locations, QObject* parent = nullptr);
    ~Document() override; ///< cancels what runs and waits for it

    void open(const OpenRequest& request); ///< again: from anew
    void openSession(Session session);     ///< of a model that is in memory; ready once rewritten
    void openAgain(); ///< as it is on disk now, with the decisions; a failure changes nothing
    void cancel();    ///< the opening or the job that runs
    /// Cancels everything. False: something still runs, ended() follows. No more calls after that.
    bool shutDown();
    State state() const { return m_state; }
    const Error* error() const { return m_error ? &*m_error : nullptr; } ///< why it failed
    const OpenRequest& request() const { return m_request; }
    const Locations& locations() const { return m_locations; }
    QString title() const; ///< last part of the model's name

    // Ready only.
    const Session& session() const { return *m_session; }
    const Graph& graph() const { return m_session->model().canonical; }
    const Analysis& analysis() const { return m_session->model().analysis; }
    const ModuleTree& tree() const { return *m_tree; }
    /// Of the decisions of a moment ago: rewrittenChanged() says when it follows.
    const std::shared_ptr<const Rewritten>& rewritten() const { return m_rewritten; }
    bool rewrittenIsCurrent() const { return !m_rewriting; }
    /// At once, or as soon as rewritten() is of the latest decisions; never when the rewrite fails.
    void whenRewritten(QObject* receiver, std::function<void()> then);
    const SiteOutcome& outcome(std::size_t site) const { return m_rewritten->outcomes[site]; }
    Decision decision(std::size_t site) const; ///< the user's, at once
    QString note(std::size_t site) const;
    const PlanProof* proof(std::size_t site) const; ///< nullptr: none
    const SpeedGain* gain(std::size_t site) const;  ///< measured; nullptr: it is not
    const NodeTimes* nodeTimes() const { return m_nodeTimes ? &*m_nodeTimes : nullptr; } ///< likewise
    bool timesAfterHold() const; ///< nodeTimes() after the rewrites is of the decisions as they are

    // Decisions. `what` tells the step in the undo menu: "reject qkv in layers 0-3".
    void apply(const std::vector<std::size_t>& sites, Decision decision, const QString& what);
    void setDecisions(Decisions decisions, const QString& what);
    void setNote(std::size_t site, const QString& note);
    void undo();
    void redo();
    bool canUndo() const;
    bool canRedo() const;
    QString undoText() const;
    QString redoText() const;

    /// Runs `work` in a thread on a copy of the session, with the worker; `done` in the GUI thread. One such
    /// job at a time: an invalid handle says that another one runs. Proofs and traces that the work leaves in
    /// its session are taken over.
    template <class T>
    JobHandle run(QObject* receiver, const QString& title,
                  std::function<Result<T>(Session&, Runtime&, const Job&)> work,
                  std::function<void(Result<T>)> done);
    /// A look at the session in a thread, without the worker; any number at a time.
    template <class T>
    JobHandle look(QObject* receiver, std::function<Result<T>(Session&, const Job&)> work,
                   std::function<void(Result<T>)> done);
    bool opening() const { return m_opening.valid(); } ///< for the first time or again
    bool working() const { return m_jobs.running(); }  ///< any thread of this document
    bool busy() const { return m_job.valid(); }
    QString jobTitle() const { return m_jobTitle; } ///< "" when no job runs
    /// The worker's command for the jobs to come; "": the one beside this program.
    void setWorker(const QString& command);
    QString worker() const { return m_worker; }
    /// One of kWeightFormats: what products keep their weights in, in the jobs to come.
    void setWeights(const QString& format);
    QString weights() const { return m_weights; }
    /// The model's directory where the worker runs; "": as here.
    void setWorkerModel(const QString& directory);
    void setMeasured(std::map<std::string, SpeedGain> bySite);
    /// Those of another graph are left alone; nothing: what was measured last has none. `of`: what `after`
    /// was measured with, as far as it is known.
    void setNodeTimes(std::optional<NodeTimes> times, std::optional<Decisions> of);

    // The plan.
    QString planFile() const { return m_planFile; }
    bool modified() const { return m_modified; }
    void openPlan(const QString& file, std::function<void(Status)> done); ///< one step for undo
    enum class Overwrite { ifUnchanged, always };
    /// Atomic. A file that is another one than was opened or saved here is kept, and the error's code is
    /// `usage`: ask, then say `always`.
    void savePlan(const QString& file, Overwrite overwrite, std::function<void(Status)> done);

Q_SIGNALS:
    void stateChanged();
    void progressed(const QString& stage, const QString& detail); ///< of the opening or the job
    void decisionsChanged();                                      ///< notes too
    void rewrittenChanged();
    void proofsChanged();
    void measuredChanged();
    void jobChanged();     ///< started or ended
    void workerChanged();  ///< the command of the jobs to come
    void weightsChanged(); ///< the format of the jobs to come
    void modifiedChanged(bool modified);
    void planFileChanged();
    void failed(const Error& error);       ///< of something that nobody waits for
    void noticed(const QString& sentence); ///< worth telling, no failure
    void modelReplaced();                  ///< its files are others on disk than those that were traced
    void planReplaced();                   ///< the plan's file was changed by somebody else
    void ended();                          ///< after shutDown()

private:
    using SessionWork = std::function<Closure(Session&, Runtime&, const Job&)>;
    JobHandle runJob(QObject* receiver, const QString& title, SessionWork work);
    JobHandle lookAside(QObject* receiver, std::function<Closure(Session&, const Job&)> work);

    void startAnotherRuntime();
    void endJob(int turn, const Session& worked);
    void setState(State state);
    void openBy(const OpenRequest& request, std::function<Result<Opened>(const Job&)> opening);
    void take(const OpenRequest& request, Opened opened);
    void failToOpen(const Error& error);
    void choicesChanged();
    void rewriteAgain();
    void updateModified();
    void keepUnsaved();
    void saved(const QString& file, const Choices& choices, const FileContent& content);

    Locations m_locations;
    OpenRequest m_request;
    State m_state = State::empty;
    std::optional<Error> m_error;
    std::optional<Session> m_session;
    std::shared_ptr<const ModuleTree> m_tree;
    std::shared_ptr<const Rewritten> m_rewritten;
    std::map<std::string, SpeedGain, std::less<>> m_measured;
    std::optional<NodeTimes> m_nodeTimes;
    std::optional<Decisions> m_timesAfterOf;
    QString m_planFile;
    FileContent m_planContent;
    QString m_worker;
    QString m_workerModel;
    QString m_weights = kStoredWeights;
    std::shared_ptr<Runtime> m_runtime; ///< once a model is open
    bool m_modified = false;
    bool m_unsavedProofs = false;
    bool m_rewriting = false;
    std::vector<std::pair<QPointer<QObject>, std::function<void()>>> m_afterRewriting;
    int m_turn = 0; ///< counts openings: what an earlier one started is not for this one
    Choices m_saved;
    JobHandle m_opening;
    JobHandle m_job;
    QString m_jobTitle;
    FileWatch m_watch;
    Autosaver m_autosaver;
    Jobs m_jobs; ///< last: its threads end before anything else goes
};

template <class T>
JobHandle Document::run(QObject* receiver, const QString& title,
                        std::function<Result<T>(Session&, Runtime&, const Job&)> work,
                        std::function<void(Result<T>)> done) {
    return runJob(receiver, title,
                  [work = std::move(work), done = std::move(done)](Session& session, Runtime& runtime,
                                                                   const Job& job) -> Closure {
                      auto result = std::make_shared<Result<T>>(
                          guarded<T>([&] { return work(session, runtime, job); }));
                      return [done, result] { done(std::move(*result)); };
                  });
}

template <class T>
JobHandle Document::look(QObject* receiver, std::function<Result<T>(Session&, const Job&)> work,
                         std::function<void(Result<T>)> done) {
    return lookAside(
        receiver,
        [work = std::move(work), done = std::move(done)](Session& session, const Job& job) -> Closure {
            auto result = std::make_shared<Result<T>>(guarded<T>([&] { return work(session, job); }));
            return [done, result] { done(std::move(*result)); };
        });
}

} // namespace workbench::gui
