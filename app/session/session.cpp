#include "app/session/session.h"

#include "app/session/trace_store.h"
#include "core/support/utf8.h"

#include <algorithm>
#include <cctype>

namespace workbench {
namespace {

namespace fs = std::filesystem;

Error badInput(const std::string& message, const std::string& where) {
    return {ErrorCode::badInput, message, where};
}

bool isOfWeights(const PlanProof& proof) {
    return proof.kind == "weights";
}

/// "org/name" or "org/name@revision", as the Hugging Face hub spells it.
bool looksLikeHubName(const std::string& name) {
    const std::string repository = name.substr(0, name.find('@'));
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
    };
    return std::count(repository.begin(), repository.end(), '/') == 1 && repository.front() != '/' &&
           repository.front() != '-' && repository.front() != '.' && repository.back() != '/' &&
           std::all_of(repository.begin(), repository.end(), plain);
}

struct Place {
    fs::path path;
    bool isArchive = false;
    std::string warning = {}; ///< worth telling with those of the trace
};

/// Where MODEL is on this machine.
Result<Place> locate(const std::string& model, bool needsWeights, const std::optional<Tracer>& tracer,
                     const Error& noTracer, const Job& job) {
    std::error_code error;
    const fs::file_status status = fs::status(model, error);
    const fs::path path = fs::absolute(model, error);
    if (fs::exists(status) && error)
        return badInput("the current folder is gone: " + model + " cannot be found from it", model);
    if (fs::exists(status) && !isUtf8(path.string()))
        return badInput(
            "the name " + path.string() + " is not UTF-8, which the helper programs need: rename it", model);
    if (fs::is_directory(status))
        return Place{path, false};
    if (fs::exists(status)) {
        if (path.extension() == ".pt2")
            return Place{path, true};
        return badInput(model + " is a file, but no .pt2 archive: name a model directory or an archive",
                        model);
    }
    if (!looksLikeHubName(model))
        return badInput("the model " + model +
                            " is not there: name a model directory, a .pt2 archive or org/name",
                        model);
    if (!tracer)
        return noTracer;
    auto resolved = tracer->resolve(model, needsWeights, job);
    if (!resolved)
        return resolved.error();
    return Place{resolved->path, false, resolved->warning};
}

/// Traces where needed. A cached trace that turns out to be damaged is made anew once.
Result<TracedModel> traceDirectory(const Tracer& tracer, const Locations& locations,
                                   const fs::path& directory, const TraceOptions& options, const Job& job) {
    const TraceStore store(locations.cache / "traces");
    auto trace = store.get(tracer, directory, options, job);
    if (!trace)
        return trace.error();
    job.report("read", trace->string());
    auto model = readTracedModel(*trace, directory, options.replica);
    if (model || model.error().code == ErrorCode::cannotTrace)
        return model;
    store.forget(*trace);
    trace = store.get(tracer, directory, options, job);
    if (!trace)
        return trace.error();
    return readTracedModel(*trace, directory, options.replica);
}

} // namespace

Result<std::unique_ptr<Session>> Session::open(const std::string& model, const TraceOptions& options,
                                               const Locations& locations, const Job& job) {
    std::unique_ptr<Session> session(new Session);
    session->m_locations = locations;
    session->m_options = options;
    auto tracer = Tracer::create(locations);
    if (tracer)
        session->m_tracer = *tracer;
    const Error noTracer = tracer ? Error{} : tracer.error();
    auto place = locate(model, options.needsWeights, session->m_tracer, noTracer, job);
    if (!place)
        return place.error();
    if (!place->isArchive && !session->m_tracer)
        return noTracer;
    auto read = place->isArchive ? readArchiveModel(place->path)
                                 : traceDirectory(*session->m_tracer, locations, place->path, options, job);
    if (!read)
        return read.error();
    if (job.cancelled())
        return cancelledError();
    if (!place->warning.empty())
        read->facts.warnings.push_back(place->warning);
    session->take(std::make_shared<TracedModel>(std::move(read).value()));
    return session;
}

Session Session::of(std::shared_ptr<const TracedModel> model, const TraceOptions& options,
                    const Locations& locations) {
    Session session;
    session.m_locations = locations;
    session.m_options = options;
    if (auto tracer = Tracer::create(locations); tracer && !model->directory.empty())
        session.m_tracer = *tracer;
    session.take(std::move(model));
    return session;
}

void Session::take(std::shared_ptr<const TracedModel> model) {
    m_model = std::move(model);
    const ModelFacts& facts = m_model->facts;
    m_context.fingerprint = m_model->fingerprint;
    m_context.model = {facts.className, facts.modelType, facts.dtype, facts.layers};
    m_context.versions = facts.versions;
}

void Session::decide(Decisions decisions, std::string what) {
    if (decisions == this->decisions())
        return;
    m_history.set(std::move(decisions), std::move(what));
    decisionsChanged();
}

void Session::decisionsChanged() {
    m_rewritten.reset();
    m_endToEndHolds = false;
}

std::vector<std::string> Session::adopt(const Choices& choices, std::string what) {
    std::map<std::string_view, SiteVerdict> verdicts;
    for (const Site& site : m_model->analysis.sites)
        verdicts.emplace(site.id, site.verdict);
    Choices kept;
    std::vector<std::string> lost;
    for (const auto& [site, decision] : choices.decisions) {
        const auto found = verdicts.find(site);
        const bool refused = found != verdicts.end() && found->second == SiteVerdict::refused;
        if (found == verdicts.end() || (refused && decision == Decision::apply))
            lost.push_back(site);
        else
            kept.decisions.emplace(site, decision);
    }
    for (const auto& [site, note] : choices.notes)
        if (verdicts.contains(site))
            kept.notes.emplace(site, note);
    if (kept.decisions != decisions())
        decisionsChanged();
    m_history.set(std::move(kept), std::move(what));
    return lost;
}

void Session::setNote(const std::string& site, const std::string& note, std::string what) {
    Choices choices = m_history.choices();
    if (note.empty())
        choices.notes.erase(site);
    else
        choices.notes[site] = note;
    m_history.set(std::move(choices), std::move(what));
}

bool Session::undo() {
    return move(&DecisionHistory::undo);
}

bool Session::redo() {
    return move(&DecisionHistory::redo);
}

/// A step that changes no more than a note keeps what is known of the decisions.
bool Session::move(bool (DecisionHistory::*step)()) {
    const Choices before = m_history.choices();
    if (!(m_history.*step)())
        return false;
    if (before.decisions != decisions())
        decisionsChanged();
    return true;
}

Result<std::shared_ptr<const Rewritten>> Session::rewritten() {
    if (!m_rewritten) {
        auto made = rewrite(m_model->canonical, m_model->analysis, decisions());
        if (!made)
            return made.error();
        m_rewritten = std::make_shared<Rewritten>(std::move(made).value());
    }
    return m_rewritten;
}

Result<FusionPlan> Session::plan() {
    auto made = rewritten();
    if (!made)
        return made.error();
    PlanContext context = m_context;
    context.notes = m_history.choices().notes;
    if (!m_endToEndHolds)
        context.endToEnd.reset();
    if (context.proofs.empty() && !context.endToEnd)
        context.weights.clear();
    return buildPlan(m_model->canonical, m_model->analysis, decisions(), **made, context);
}

void Session::setProofs(std::map<std::string, PlanProof, std::less<>> sites, PlanProof endToEnd,
                        std::string weights) {
    m_context.proofs = std::move(sites);
    m_context.endToEnd = std::move(endToEnd);
    m_context.weights = std::move(weights);
    m_endToEndHolds = true;
    ++m_verifications;
}

const PlanProof* Session::proof(std::string_view site) const {
    const auto found = m_context.proofs.find(site);
    return found == m_context.proofs.end() ? nullptr : &found->second;
}

const PlanProof* Session::endToEnd() const {
    return m_endToEndHolds && m_context.endToEnd ? &*m_context.endToEnd : nullptr;
}

bool Session::takeFindings(const Session& copy) {
    for (const auto& [kind, model] : copy.m_siblings)
        m_siblings.emplace(kind, model);
    if (!m_rewritten && copy.m_rewritten && copy.decisions() == decisions())
        m_rewritten = copy.m_rewritten;
    if (copy.m_verifications == m_verifications)
        return false;
    m_verifications = copy.m_verifications;
    if (copy.m_context.weights != m_context.weights) // what is known of others does not stand beside them
        std::erase_if(m_context.proofs, [](const auto& entry) { return isOfWeights(entry.second); });
    for (const auto& [site, proof] : copy.m_context.proofs)
        m_context.proofs.insert_or_assign(site, proof);
    m_context.weights = copy.m_context.weights;
    if (copy.m_endToEndHolds && copy.decisions() == decisions()) {
        m_context.endToEnd = copy.m_context.endToEnd;
        m_endToEndHolds = true;
    }
    return true;
}

Result<const TracedModel*> Session::sibling(TraceDtype dtype, bool replica, const Job& job) {
    if (!m_tracer || m_model->directory.empty())
        return badInput("an archive cannot be traced anew", m_model->archive.string());
    auto& kept = m_siblings[{dtype, replica}];
    if (!kept) {
        TraceOptions options = m_options;
        options.dtype = dtype;
        options.replica = replica;
        auto read = traceDirectory(*m_tracer, m_locations, m_model->directory, options, job);
        if (!read)
            return read.error();
        kept = std::make_shared<TracedModel>(std::move(read).value());
    }
    return kept.get();
}

/// A plan made in one element type serves another run of the same model in another type: it is compared in
/// its own.
Status Session::checkFingerprint(const FusionPlan& plan, const std::string& file, const Job& job) {
    const ModelFacts& facts = m_model->facts;
    const bool sameKind = plan.model.className == facts.className &&
                          plan.model.modelType == facts.modelType && plan.model.layers == facts.layers;
    const TracedModel* model = m_model.get();
    const bool otherType = plan.model.dtype == "f32" || plan.model.dtype == "bf16";
    if (sameKind && plan.model.dtype != facts.dtype && otherType && m_tracer) {
        auto twin = sibling(plan.model.dtype == "f32" ? TraceDtype::f32 : TraceDtype::bf16, false, job);
        if (!twin)
            return twin.error();
        model = *twin;
    }
    if (model->fingerprint == plan.fingerprint)
        return sameFindings(plan, model->analysis, file);
    return badInput("the plan " + file + " is for another model (" + plan.model.className + " of " +
                        std::to_string(plan.model.layers) + " layers" +
                        (sameKind ? ", with another graph or configuration" : "") + "), not for this " +
                        facts.className + " of " + std::to_string(facts.layers) + " layers",
                    file);
}

Status Session::usePlan(const FusionPlan& plan, const std::string& file, const Job& job) {
    if (auto same = checkFingerprint(plan, file, job); !same)
        return same;
    auto planned = decisionsOf(plan, m_model->analysis, file);
    if (!planned)
        return planned.error();
    Choices choices{std::move(planned).value(), {}};
    m_context.proofs.clear(); // they are of the weights that the plan before named
    for (const PlanSite& site : plan.sites) {
        if (!site.note.empty())
            choices.notes[site.id] = site.note;
        if (site.proof)
            m_context.proofs[site.id] = *site.proof;
    }
    if (choices.decisions != decisions())
        decisionsChanged();
    m_history.set(std::move(choices), "open " + fs::path(file).filename().string());
    m_context.weights = plan.weights;
    m_context.endToEnd = plan.endToEnd;
    m_endToEndHolds = true;
    return Ok{};
}

std::string Session::dropProofsOfOtherWeights() {
    const bool any = (m_context.endToEnd && isOfWeights(*m_context.endToEnd)) ||
                     std::any_of(m_context.proofs.begin(), m_context.proofs.end(),
                                 [](const auto& entry) { return isOfWeights(entry.second); });
    if (!any || !m_model->hasWeights || m_model->directory.empty() ||
        (!m_context.weights.empty() && m_context.weights == weightsIdentity(m_model->directory)))
        return {};
    std::erase_if(m_context.proofs, [](const auto& entry) { return isOfWeights(entry.second); });
    m_context.weights.clear();
    if (m_context.endToEnd && isOfWeights(*m_context.endToEnd))
        m_context.endToEnd.reset();
    return "the plan's proofs are not known to be of this model's weights and are left out: verify it again";
}

} // namespace workbench
