#include "app/gui/document/document.h"

/// Decisions, and the jobs that work on them.

namespace workbench::gui {

void Document::apply(const std::vector<std::size_t>& sites, Decision decision, const QString& what) {
    Decisions decisions = m_session->decisions();
    for (const std::size_t site : sites) {
        const Site& known = analysis().sites[site];
        if (decision == Decision::undecided || known.verdict != SiteVerdict::applicable)
            decisions.erase(known.id);
        else
            decisions[known.id] = decision;
    }
    setDecisions(std::move(decisions), what);
}

void Document::setDecisions(Decisions decisions, const QString& what) {
    m_session->decide(std::move(decisions), what.toStdString());
    choicesChanged();
}

void Document::setNote(std::size_t site, const QString& note) {
    m_session->setNote(analysis().sites[site].id, note.trimmed().toStdString(),
                       tr("note on %1").arg(QString::fromStdString(analysis().sites[site].id)).toStdString());
    choicesChanged();
}

void Document::undo() {
    if (m_session && m_session->undo())
        choicesChanged();
}

void Document::redo() {
    if (m_session && m_session->redo())
        choicesChanged();
}

bool Document::canUndo() const {
    return m_state == State::ready && m_session->history().canUndo();
}

bool Document::canRedo() const {
    return m_state == State::ready && m_session->history().canRedo();
}

QString Document::undoText() const {
    return canUndo() ? QString::fromStdString(m_session->history().undoText()) : QString();
}

QString Document::redoText() const {
    return canRedo() ? QString::fromStdString(m_session->history().redoText()) : QString();
}

void Document::choicesChanged() {
    updateModified();
    Q_EMIT decisionsChanged();
    rewriteAgain();
}

/// One at a time: what was decided meanwhile is rewritten when it ends.
void Document::rewriteAgain() {
    if (std::exchange(m_rewriting, true))
        return;
    const int turn = m_turn;
    look<std::shared_ptr<const Rewritten>>(
        this, [](Session& session, const Job&) { return session.rewritten(); },
        [this, turn, decided = m_session->decisions()](Result<std::shared_ptr<const Rewritten>> made) {
            m_rewriting = false;
            if (m_session->decisions() != decided)
                rewriteAgain();
            if (turn == m_turn && made) {
                m_rewritten = std::move(made).value();
                Q_EMIT rewrittenChanged();
            } else if (turn == m_turn && made.error().code != ErrorCode::cancelled) {
                Q_EMIT failed(made.error());
            }
            if (m_rewriting)
                return;
            for (const auto& [receiver, then] : std::exchange(m_afterRewriting, {}))
                if (receiver && made)
                    then();
        });
}

void Document::whenRewritten(QObject* receiver, std::function<void()> then) {
    if (rewrittenIsCurrent())
        return then();
    m_afterRewriting.emplace_back(receiver, std::move(then));
}

JobHandle Document::runJob(QObject* receiver, const QString& title, SessionWork work) {
    if (busy() || m_state != State::ready)
        return {};
    const int turn = m_turn;
    const auto inThread = [this, turn, session = std::make_shared<Session>(*m_session), runtime = m_runtime,
                           receiver = QPointer<QObject>(receiver),
                           work = std::move(work)](const Job& job) -> Closure {
        Closure done = work(*session, *runtime, job);
        return [this, turn, session, receiver, done = std::move(done)] {
            endJob(turn, *session);
            if (receiver && done)
                done();
        };
    };
    m_jobTitle = title;
    m_job = m_jobs.start(this, inThread, [this](const QString& stage, const QString& detail) {
        Q_EMIT progressed(stage, detail);
    });
    Q_EMIT jobChanged();
    return m_job;
}

void Document::endJob(int turn, const Session& worked) {
    m_job = {};
    m_jobTitle.clear();
    if (turn == m_turn && m_session->takeFindings(worked)) {
        m_unsavedProofs = true;
        updateModified();
        Q_EMIT proofsChanged();
    }
    Q_EMIT jobChanged();
}

JobHandle Document::lookAside(QObject* receiver, std::function<Closure(Session&, const Job&)> work) {
    if (!m_session)
        return {};
    return m_jobs.start(receiver, [session = std::make_shared<Session>(*m_session),
                                   work = std::move(work)](const Job& job) { return work(*session, job); });
}

void Document::setWorker(const QString& command) {
    if (command == m_worker)
        return;
    m_worker = command;
    startAnotherRuntime();
    Q_EMIT workerChanged();
}

void Document::setWorkerModel(const QString& directory) {
    m_workerModel = directory;
    startAnotherRuntime();
}

void Document::setWeights(const QString& format) {
    if (format == m_weights)
        return;
    m_weights = format;
    startAnotherRuntime();
    Q_EMIT weightsChanged();
}

void Document::startAnotherRuntime() {
    m_runtime = std::make_shared<Runtime>(m_locations, m_worker.toStdString(), m_workerModel.toStdString(),
                                          m_weights.toStdString());
    // Told from the thread of a job, which ends before this document does. What a runtime says that was
    // replaced meanwhile is about another model or other weights.
    m_runtime->setNotices([this, from = std::weak_ptr(m_runtime)](const std::string& sentence) {
        const auto tell = [this, from, sentence] {
            if (from.lock() == m_runtime)
                Q_EMIT noticed(QString::fromStdString(sentence));
        };
        QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
    });
}

} // namespace workbench::gui
