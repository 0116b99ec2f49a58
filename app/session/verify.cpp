#include "app/session/verify.h"

#include "app/session/logits.h"
#include "app/session/text_input.h"
#include "app/session/verify_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench {
namespace {

/// What is verified: the model itself, or its reduced-size replica when it has no weights.
struct Subject {
    const TracedModel* model = nullptr;
    Rewritten rewritten;
    bool isReplica = false;
};

TraceDtype dtypeOf(const TracedModel& model) {
    return model.facts.dtype == "bf16" ? TraceDtype::bf16 : TraceDtype::f32;
}

Result<Subject> chooseSubject(Session& session, const Runtime& runtime, const VerifyRequest& request,
                              const Job& job) {
    Subject subject{&session.model(), {}, false};
    if (!subject.model->runnable)
        return Error{ErrorCode::badInput,
                     subject.model->archive.string() +
                         " is no language model program (token ids, positions and rows in, logits out): it "
                         "can be planned, not verified",
                     subject.model->archive.string()};
    const bool hasWeights = runtime.hasWeights(*subject.model);
    if (!hasWeights && subject.model->directory.empty())
        return Error{ErrorCode::badInput,
                     subject.model->archive.string() +
                         " lacks the data of its parameters: it can be planned, not verified",
                     subject.model->archive.string()};
    if (!hasWeights) {
        // Tokens and logits of the model mean nothing in a replica with a vocabulary of its own.
        if (!request.tokens.empty() || !request.text.empty() || !request.dumpLogits.empty())
            return Error{ErrorCode::badInput,
                         subject.model->directory.string() +
                             " has no weights: --tokens, --text and --dump-logits need them",
                         subject.model->directory.string()};
        auto replica = session.sibling(dtypeOf(session.model()), true, job);
        if (!replica)
            return replica.error();
        subject.model = *replica;
        subject.isReplica = true;
    }
    auto rewritten = rewrite(subject.model->canonical, subject.model->analysis, session.decisions());
    if (!rewritten)
        return rewritten.error();
    subject.rewritten = std::move(rewritten).value();
    return subject;
}

/// bf16 rounds too coarsely for a verdict on few tokens; the average over more of them is steady.
std::int64_t shortestSequence(const TracedModel& model) {
    return model.facts.dtype == "f32" ? 24 : 157;
}

Result<TokenInput> inputFor(const Session& session, const Subject& subject, const VerifyRequest& request,
                            const Job& job) {
    const ModelFacts& facts = subject.model->facts;
    if (!request.text.empty())
        return tokensOfText(session, request.text, facts.contextLength, job);
    if (!request.tokens.empty()) {
        auto given = readTokens(request.tokens, facts.vocabulary);
        if (given)
            if (auto fits = checkContext(*given, facts.contextLength); !fits)
                return fits.error();
        return given;
    }
    return defaultTokens(facts.maxWindow, facts.vocabulary, facts.contextLength,
                         shortestSequence(*subject.model));
}

PlanProof proofFrom(const VerifyReport& report, const nlohmann::json& difference, double tolerance,
                    std::int64_t tokens) {
    PlanProof proof{report.kind,
                    report.dtype,
                    numberOf(difference, "max_abs_error"),
                    numberOf(difference, "relative_error"),
                    tolerance,
                    tokens,
                    false};
    proof.passed = proof.relativeError <= tolerance; // false for NaN
    return proof;
}

/// Applied sites of the session that the subject does not have applied, too.
std::vector<std::string> unprovenSites(const Session& session, const Rewritten& whole,
                                       const std::vector<SiteProof>& proven) {
    std::vector<std::string> missing;
    const std::vector<Site>& sites = session.model().analysis.sites;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const auto is = [&](const SiteProof& proof) { return proof.id == sites[i].id; };
        if (whole.outcomes[i].state == SiteOutcome::State::applied &&
            std::none_of(proven.begin(), proven.end(), is))
            missing.push_back(sites[i].id);
    }
    return missing;
}

/// Fills in what the worker's comparison says.
Status compareSites(Runtime& runtime, const Subject& subject, const TokenInput& input, VerifyReport& report,
                    double& maxAbs, const Job& job) {
    const nlohmann::json params = {{"original", kOriginal},
                                   {"rewritten", kRewritten},
                                   {"tokens", input.tokens},
                                   {"positions", input.positions},
                                   {"sites", siteChecks(*subject.model, subject.rewritten)}};
    job.report("verify", std::to_string(params["sites"].size()) + " sites, " +
                             std::to_string(input.tokens.size()) + " tokens");
    auto answer = runtime.call("verify", params, job);
    if (!answer)
        return answer.error();
    const double tolerance = toleranceOf(report.dtype);
    const auto tokens = static_cast<std::int64_t>(input.tokens.size());
    for (const nlohmann::json& site : answer->result.value("sites", nlohmann::json::array()))
        report.sites.push_back({site.value("id", ""), proofFrom(report, site, tolerance, tokens)});
    const nlohmann::json endToEnd = answer->result.value("end_to_end", nlohmann::json::object());
    report.endToEnd = proofFrom(report, endToEnd, tolerance, tokens);
    report.largestDifference = report.endToEnd.relativeError;
    maxAbs = numberOf(endToEnd, "max_abs");
    return Ok{};
}

/// bf16: both programs against the same weights in f32. Nothing in f32.
Result<std::optional<Truth>> compareWithTruth(Session& session, Runtime& runtime, const Subject& subject,
                                              const TokenInput& input, VerifyReport& report, const Job& job) {
    if (report.dtype == "f32" || subject.model->directory.empty())
        return std::optional<Truth>();
    auto model = session.sibling(TraceDtype::f32, subject.isReplica, job);
    if (!model)
        return model.error();
    auto truth = compareWithF32(runtime, **model, input, job);
    if (!truth)
        return truth.error();
    const TruthErrors& errors = truth->errors;
    report.truth = errors;
    report.endToEnd.relativeError = errors.rewritten;
    report.endToEnd.tolerance = truthRatio(report.endToEnd.tokens) * errors.original;
    report.endToEnd.passed = errors.rewritten <= report.endToEnd.tolerance;
    return std::optional(std::move(truth).value());
}

/// The rewritten program as it is served. A model that cannot be is proven all the same.
Status compareWithEngine(Runtime& runtime, const Subject& subject, const Truth* truth,
                         const TokenInput& input, VerifyReport& report, const Job& job) {
    auto proof = proveEngine(runtime, *subject.model, report, truth, input, job);
    if (proof) {
        report.engine = *proof;
        return Ok{};
    }
    if (proof.error().code != ErrorCode::requirementFailed)
        return proof.error();
    report.engineReason = proof.error().message;
    // What the original can do, the rewritten program must be able to do as well.
    auto original = runLogits(runtime, kOriginal, input.tokens, input.positions, {0}, job, LogitsBy::engine);
    if (original)
        report.engine =
            EngineProof{std::numeric_limits<double>::infinity(), toleranceOf(report.dtype), false};
    else if (original.error().code != ErrorCode::requirementFailed)
        return original.error();
    return Ok{};
}

/// What quantised weights cost, or why that cannot be told: the proof stands without it. An Error only when
/// the job was cancelled.
Status tellLoss(Runtime& runtime, const Subject& subject, const TokenInput& input, bool isText,
                VerifyReport& report, const Job& job) {
    if (report.weights == kStoredWeights)
        return Ok{};
    if (subject.isReplica) {
        report.lossReason = "random weights say nothing about the model's own";
        return Ok{};
    }
    auto loss = lossOfQuantising(runtime, *subject.model, input, isText, job);
    if (loss)
        report.loss = *loss;
    else if (job.cancelled() || loss.error().code == ErrorCode::cancelled)
        return loss.error();
    else
        report.lossReason = loss.error().message;
    return Ok{};
}

bool allPassed(const VerifyReport& report) {
    const auto passed = [](const SiteProof& site) { return site.proof.passed; };
    // In bf16 both texts are rounded ones: only f32 text has to be equal.
    const bool greedy = report.dtype != "f32" || report.greedy.differences == report.greedy.excused;
    return report.endToEnd.passed && greedy && report.unproven.empty() &&
           (!report.engine || report.engine->passed) &&
           std::all_of(report.sites.begin(), report.sites.end(), passed);
}

/// `weights`: whose they were, see weightsIdentity(); "" when that is not known here.
void record(Session& session, const std::string& weights, const VerifyReport& report) {
    std::map<std::string, PlanProof, std::less<>> proofs;
    for (const SiteProof& site : report.sites)
        proofs.emplace(site.id, site.proof);
    PlanProof endToEnd = report.endToEnd;
    endToEnd.passed = endToEnd.passed && (!report.engine || report.engine->passed);
    session.setProofs(std::move(proofs), std::move(endToEnd), weights);
}

} // namespace

double toleranceOf(std::string_view dtype) {
    // bf16: two units in the last place of the largest value (8 bits of precision, so one unit is at most
    // 2^-7 of it).
    return dtype == "f32" ? 1e-5 : 2 * std::ldexp(1.0, -7);
}

double truthRatio(std::int64_t tokens) {
    constexpr double many = 1.1;
    constexpr std::int64_t enough = 256;
    return tokens >= enough ? many
                            : many + 2 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, tokens)));
}

Result<VerifyReport> verifySession(Session& session, Runtime& runtime, const VerifyRequest& request,
                                   const Job& job) {
    auto whole = session.rewritten();
    if (!whole)
        return whole.error();
    auto subject = chooseSubject(session, runtime, request, job);
    if (!subject)
        return subject.error();
    auto input = inputFor(session, *subject, request, job);
    if (!input)
        return input.error();
    VerifyReport report;
    report.kind = subject->isReplica ? "random-weights" : "weights";
    report.weights = runtime.weightFormat();
    report.dtype = subject->model->facts.dtype;
    report.lengths = input->lengths;

    const nlohmann::json weights = runtime.weightsOf(*subject->model);
    if (auto loaded = runtime.load(kOriginal, subject->model->canonical, weights, job); !loaded)
        return loaded.error();
    if (auto loaded = runtime.load(kRewritten, subject->rewritten.graph, weights, job); !loaded)
        return loaded.error();
    report.products = runtime.products();
    double maxAbs = 0;
    if (auto compared = compareSites(runtime, *subject, *input, report, maxAbs, job); !compared)
        return compared.error();
    report.unproven = unprovenSites(session, **whole, report.sites);
    auto truth = compareWithTruth(session, runtime, *subject, *input, report, job);
    if (!truth)
        return truth.error();
    if (auto compared =
            compareWithEngine(runtime, *subject, *truth ? &**truth : nullptr, *input, report, job);
        !compared)
        return compared.error();
    truth->reset(); // may be hundreds of megabytes
    auto greedy = compareGreedy(runtime, *input, subject->model->facts.contextLength,
                                2 * toleranceOf(report.dtype) * maxAbs, job);
    if (!greedy)
        return greedy.error();
    report.greedy = *greedy;
    if (!request.dumpLogits.empty())
        if (auto dumped = dumpLogits(runtime, *input, request.dumpLogits, job); !dumped)
            return dumped.error();
    if (auto told = tellLoss(runtime, *subject, *input, !request.text.empty(), report, job); !told)
        return told.error();
    report.passed = allPassed(report);
    if (report.weights != kStoredWeights)
        return report;
    const bool known = !subject->isReplica && !runtime.modelIsElsewhere();
    record(session, known ? weightsIdentity(subject->model->directory) : std::string(), report);
    return report;
}

} // namespace workbench
