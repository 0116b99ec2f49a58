#include "app/gui/document/document.h"

#include <QtCore/QFileInfo>

#include <utility>

namespace workbench::gui {
namespace {

using Opened = Document::Opened;

/// The rest of an opening, once session and choices are there.
Result<Opened> prepared(Opened opened, const Job& job) {
    job.report("rewrite");
    opened.tree = std::make_shared<ModuleTree>(buildModuleTree(opened.session.model().canonical));
    auto rewritten = opened.session.rewritten();
    if (!rewritten)
        return rewritten.error();
    if (job.cancelled())
        return cancelledError();
    opened.rewritten = std::move(rewritten).value();
    return opened;
}

Status takePlan(Opened& opened, const std::string& file, const Job& job) {
    job.report("plan", file);
    auto stored = loadPlan(file);
    if (!stored)
        return stored.error();
    opened.planContent = stored->content;
    return opened.session.usePlan(stored->plan, file, job);
}

/// A plan that went away or is another model's by now costs no unsaved work: that has all decisions.
Status takeUnsaved(Opened& opened, const Autosaved& unsaved, const Job& job) {
    if (!unsaved.planFile.empty() && takePlan(opened, unsaved.planFile.string(), job))
        opened.saved = opened.session.history().choices();
    return opened.session.usePlan(unsaved.plan, "of the unsaved work", job);
}

Result<Opened> openModel(const OpenRequest& request, const Locations& locations, const Job& job) {
    auto session = Session::open(request.model.toStdString(), request.trace, locations, job);
    if (!session)
        return session.error();
    Opened opened{std::move(**session), {}, {}, {}, {}, {}, {}};
    if (request.unsaved) {
        if (auto taken = takeUnsaved(opened, *request.unsaved, job); !taken)
            return taken.error();
    } else if (!request.plan.isEmpty()) {
        if (auto taken = takePlan(opened, request.plan.toStdString(), job); !taken)
            return taken.error();
        opened.saved = opened.session.history().choices();
    }
    opened.notice = opened.session.dropProofsOfOtherWeights();
    if (request.choices)
        opened.lost = opened.session.adopt(*request.choices);
    return prepared(std::move(opened), job);
}

} // namespace

Document::Document(Locations locations, QObject* parent)
    : QObject(parent), m_locations(std::move(locations)), m_watch(m_jobs),
      m_autosaver(m_jobs, m_locations.cache) {
    connect(&m_watch, &FileWatch::modelReplaced, this, &Document::modelReplaced);
    connect(&m_watch, &FileWatch::planReplaced, this, &Document::planReplaced);
    connect(&m_autosaver, &Autosaver::failed, this, &Document::failed);
}

Document::~Document() {
    m_jobs.cancelAll();
}

QString Document::title() const {
    const QFileInfo model(m_request.model);
    return model.fileName().isEmpty() ? m_request.model : model.fileName();
}

void Document::setState(State state) {
    m_state = state;
    Q_EMIT stateChanged();
}

void Document::open(const OpenRequest& request) {
    openBy(request,
           [request, locations = m_locations](const Job& job) { return openModel(request, locations, job); });
}

void Document::openSession(Session session) {
    OpenRequest request;
    const TracedModel& model = session.model();
    request.model =
        QString::fromStdString((model.directory.empty() ? model.archive : model.directory).string());
    openBy(request, [session](const Job& job) { return prepared({session, {}, {}, {}, {}, {}}, job); });
}

void Document::openAgain() {
    OpenRequest request = m_request;
    request.unsaved.reset();
    request.plan = m_planFile;
    if (m_state == State::ready)
        request.choices = std::make_shared<Choices>(m_session->history().choices());
    open(request);
}

/// What is open stays until the new one is there, so that a failure loses nothing.
void Document::openBy(const OpenRequest& request, std::function<Result<Opened>(const Job&)> opening) {
    m_opening.cancel();
    const int turn = ++m_turn;
    if (m_state != State::ready) {
        m_request = request;
        m_error.reset();
        setState(State::opening);
    }
    const auto work = [this, turn, request, opening = std::move(opening)](const Job& job) -> Closure {
        auto result = std::make_shared<Result<Opened>>(guarded<Opened>([&] { return opening(job); }));
        return [this, turn, request, result] {
            if (turn != m_turn)
                return;
            m_opening = {};
            if (*result)
                take(request, std::move(*result).value());
            else
                failToOpen(result->error());
        };
    };
    m_opening = m_jobs.start(this, work, [this](const QString& stage, const QString& detail) {
        Q_EMIT progressed(stage, detail);
    });
}

void Document::take(const OpenRequest& request, Opened opened) {
    m_job.cancel();
    if (m_state == State::ready)
        setState(State::opening); // whoever shows the old one lets go of it
    m_request = request;
    m_session.emplace(std::move(opened.session));
    m_tree = std::move(opened.tree);
    m_rewritten = std::move(opened.rewritten);
    m_measured.clear();
    m_nodeTimes.reset();
    startAnotherRuntime(); // the old one has weights of files that may be others now
    m_saved = std::move(opened.saved);
    m_unsavedProofs = false;
    m_planContent = opened.planContent;
    m_planFile = request.unsaved ? QString::fromStdString(request.unsaved->planFile.string()) : request.plan;
    m_watch.watchModel(m_session->sharedModel());
    m_watch.watchPlan(m_planFile, m_planContent);
    setState(State::ready);
    Q_EMIT planFileChanged();
    updateModified();
    if (request.unsaved)
        forgetWork(*request.unsaved);
    if (!opened.lost.empty())
        Q_EMIT noticed(tr("%n decision(s) were dropped: their sites are gone, the first is %1", nullptr,
                          static_cast<int>(opened.lost.size()))
                           .arg(QString::fromStdString(opened.lost.front())));
    if (!opened.notice.empty())
        Q_EMIT noticed(QString::fromStdString(opened.notice));
}

void Document::failToOpen(const Error& error) {
    if (m_state == State::ready) {
        rewriteAgain(); // one that ran when the opening began was not taken
        if (error.code != ErrorCode::cancelled)
            Q_EMIT failed(error);
        return;
    }
    m_error = error;
    setState(State::failed);
}

bool Document::shutDown() {
    ++m_turn;
    m_autosaver.forget();
    m_jobs.cancelAll();
    connect(&m_jobs, &Jobs::idle, this, &Document::ended);
    return !m_jobs.running();
}

void Document::cancel() {
    m_opening.cancel();
    m_job.cancel();
}

Decision Document::decision(std::size_t site) const {
    const Decisions& decisions = m_session->decisions();
    const auto found = decisions.find(analysis().sites[site].id);
    return found == decisions.end() ? Decision::undecided : found->second;
}

QString Document::note(std::size_t site) const {
    const SiteNotes& notes = m_session->history().choices().notes;
    const auto found = notes.find(analysis().sites[site].id);
    return found == notes.end() ? QString() : QString::fromStdString(found->second);
}

const PlanProof* Document::proof(std::size_t site) const {
    return m_session->proof(analysis().sites[site].id);
}

const SpeedGain* Document::gain(std::size_t site) const {
    const auto found = m_measured.find(analysis().sites[site].id);
    return found == m_measured.end() ? nullptr : &found->second;
}

void Document::setMeasured(std::map<std::string, SpeedGain> bySite) {
    m_measured = {std::make_move_iterator(bySite.begin()), std::make_move_iterator(bySite.end())};
    Q_EMIT measuredChanged();
}

void Document::setNodeTimes(std::optional<NodeTimes> times, std::optional<Decisions> of) {
    if (times && times->fingerprint != m_session->model().fingerprint)
        return;
    m_nodeTimes = std::move(times);
    m_timesAfterOf = std::move(of);
    Q_EMIT measuredChanged();
}

bool Document::timesAfterHold() const {
    return m_nodeTimes && m_timesAfterOf && *m_timesAfterOf == m_session->decisions();
}

} // namespace workbench::gui
