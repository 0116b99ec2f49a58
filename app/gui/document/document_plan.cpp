#include "app/gui/document/document.h"

/// The plan's file, and unsaved work.

namespace workbench::gui {
namespace {

Error notReady(const QString& file) {
    return {ErrorCode::usage, "there is no open model that " + file.toStdString() + " could be the plan of",
            file.toStdString()};
}

} // namespace

void Document::openPlan(const QString& file, std::function<void(Status)> done) {
    struct Read {
        Session session;
        FileContent content;
        std::string notice; ///< "": none
    };
    if (m_state != State::ready)
        return done(notReady(file));
    const Choices before = m_session->history().choices();
    look<Read>(
        this,
        [file](Session& session, const Job& job) -> Result<Read> {
            auto stored = loadPlan(file.toStdString());
            if (!stored)
                return stored.error();
            if (auto used = session.usePlan(stored->plan, file.toStdString(), job); !used)
                return used.error();
            const std::string notice = session.dropProofsOfOtherWeights();
            return Read{session, stored->content, notice};
        },
        [this, file, before, turn = m_turn, done = std::move(done)](Result<Read> read) {
            if (!read)
                return done(read.error());
            if (turn != m_turn || !(m_session->history().choices() == before))
                return done(Error{ErrorCode::usage,
                                  "decisions were changed while the plan was read: open it again",
                                  file.toStdString()});
            m_session.emplace(std::move(read->session));
            saved(file, m_session->history().choices(), read->content);
            Q_EMIT proofsChanged();
            choicesChanged();
            if (!read->notice.empty())
                Q_EMIT noticed(QString::fromStdString(read->notice));
            done(Ok{});
        });
}

void Document::savePlan(const QString& file, Overwrite overwrite, std::function<void(Status)> done) {
    if (m_state != State::ready)
        return done(notReady(file));
    std::optional<FileContent> known;
    if (overwrite == Overwrite::ifUnchanged && file == m_planFile)
        known = m_planContent;
    // The session is copied now: what a job finds from now on is not in the file.
    look<FileContent>(
        this,
        [file, known, cache = m_locations.cache](Session& session, const Job& job) -> Result<FileContent> {
            auto plan = session.plan();
            if (!plan)
                return plan.error();
            return storePlan(*plan, file.toStdString(), known, cache, job);
        },
        [this, file, choices = m_session->history().choices(), turn = m_turn,
         unsavedProofs = std::exchange(m_unsavedProofs, false),
         done = std::move(done)](Result<FileContent> stored) {
            if (!stored) {
                m_unsavedProofs = m_unsavedProofs || unsavedProofs;
                return done(stored.error());
            }
            if (turn == m_turn)
                saved(file, choices, *stored);
            done(Ok{});
        });
}

void Document::saved(const QString& file, const Choices& choices, const FileContent& content) {
    m_saved = choices;
    m_planFile = file;
    m_planContent = content;
    m_watch.watchPlan(file, content);
    Q_EMIT planFileChanged();
    updateModified();
}

void Document::updateModified() {
    const bool modified = m_unsavedProofs || !(m_session->history().choices() == m_saved);
    if (modified)
        keepUnsaved();
    else
        m_autosaver.forget();
    if (std::exchange(m_modified, modified) != modified)
        Q_EMIT modifiedChanged(modified);
}

void Document::keepUnsaved() {
    m_autosaver.keep([this] {
        Autosaved about;
        about.model = m_request.model.toStdString();
        about.trace = m_request.trace;
        about.planFile = m_planFile.toStdString();
        return Autosaver::Work{*m_session, about};
    });
}

} // namespace workbench::gui
