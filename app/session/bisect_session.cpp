#include "app/session/bisect_session.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace workbench {
namespace {

using By = SessionBisectRequest::By;

std::string errorText(const std::string& of, const PlanProof& proof) {
    std::ostringstream text;
    text << std::scientific << std::setprecision(1) << of << " " << proof.relativeError << ", tolerance "
         << proof.tolerance;
    return text.str();
}

/// The first comparison that failed; that of the logits when none did.
BisectTry judge(const VerifyReport& report) {
    for (const SiteProof& site : report.sites)
        if (!site.proof.passed)
            return {true, errorText("error of " + site.id, site.proof)};
    if (!report.endToEnd.passed)
        return {true, errorText("error of the logits", report.endToEnd)};
    if (report.engine && !report.engine->passed)
        return {true, "the logits of the engine are out of tolerance"};
    // In bf16 both texts are rounded ones.
    if (report.dtype == "f32" && report.greedy.differences > report.greedy.excused)
        return {true, "the greedy text differs at token " + std::to_string(report.greedy.tokens)};
    return {false, errorText("error of the logits", report.endToEnd)};
}

BisectTry judge(const BenchReport& report) {
    const Comparison prefill = compare(report.before, report.after, Quantity::prefill);
    const Comparison decode = compare(report.before, report.after, Quantity::decode);
    return {prefill.verdict == SpeedVerdict::slower || decode.verdict == SpeedVerdict::slower,
            "prefill " + describe(prefill) + "; decode " + describe(decode)};
}

Result<BisectTry> tryNumbers(Session& session, Runtime& runtime, const Job& job) {
    auto report = verifySession(session, runtime, {}, job);
    if (!report)
        return report.error();
    return judge(*report);
}

Result<BisectTry> trySpeed(Session& session, Runtime& runtime, const SessionBisectRequest& request,
                           const Job& job) {
    auto report = measure(session, runtime, {request.load, false, request.device}, {}, job);
    if (!report)
        return report.error();
    return judge(*report);
}

std::string joined(const std::vector<std::string>& sites, const std::vector<std::size_t>& indices) {
    std::string text;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const bool last = i + 1 == indices.size();
        text += (i == 0 ? "" : last ? " and " : ", ") + sites[indices[i]];
    }
    return text;
}

} // namespace

Result<std::vector<std::string>> appliedSites(const Session& session) {
    const TracedModel& model = session.model();
    auto rewritten = rewrite(model.canonical, model.analysis, session.decisions());
    if (!rewritten)
        return rewritten.error();
    std::vector<std::string> applied;
    for (std::size_t i = 0; i < rewritten->outcomes.size(); ++i)
        if (rewritten->outcomes[i].state == SiteOutcome::State::applied)
            applied.push_back(model.analysis.sites[i].id);
    return applied;
}

Result<SessionBisect> bisectSession(const Session& session, Runtime& runtime,
                                    const SessionBisectRequest& request, const Job& job) {
    if (request.by == By::speed && request.load.rounds < static_cast<std::int64_t>(kFewestRounds))
        return Error{ErrorCode::usage,
                     std::to_string(request.load.rounds) +
                         " rounds are too few to call anything slower: take " +
                         std::to_string(kFewestRounds) + " or more",
                     {}};
    auto sites = appliedSites(session);
    if (!sites)
        return sites.error();
    if (sites->empty())
        return Error{ErrorCode::usage, "nothing is applied: there is nothing to search", {}};
    Session tried = session;
    BisectRequest search;
    search.count = sites->size();
    search.onStep = request.onStep;
    // A small loss of speed that only many sites make is no pair.
    search.joint = request.by == By::speed ? BisectRequest::Joint::together : BisectRequest::Joint::separate;
    search.test = [&](const std::vector<std::size_t>& on) -> Result<BisectTry> {
        Decisions decisions;
        for (const std::size_t i : on)
            decisions[(*sites)[i]] = Decision::apply;
        tried.decide(std::move(decisions));
        return request.by == By::speed ? trySpeed(tried, runtime, request, job)
                                       : tryNumbers(tried, runtime, job);
    };
    auto result = bisect(search, job);
    if (!result)
        return result.error();
    return SessionBisect{std::move(sites).value(), std::move(result).value()};
}

std::string describe(const SessionBisect& found, By by) {
    const BisectResult& result = found.result;
    const std::string count = std::to_string(found.sites.size());
    const std::string all = found.sites.size() == 1 ? "the applied site" : "all " + count + " applied sites";
    if (!result.wrong)
        return "with " + all +
               (by == By::speed ? " the model is not slower beyond the spread"
                                : " the numbers are within tolerance") +
               ": no site is guilty";
    const std::string effect = by == By::speed ? "slower" : "wrong";
    std::string text;
    for (const auto& guilty : result.guilty) {
        const bool several = guilty.size() > 1;
        const bool many = guilty.size() > 4;
        text += text.empty() ? "" : "; ";
        text += many ? std::to_string(guilty.size()) + " sites, from " + found.sites[guilty.front()] +
                           " to " + found.sites[guilty.back()]
                     : joined(found.sites, guilty);
        text += (several ? " together make it " : " makes it ") + effect;
    }
    return text + (result.rest ? "; without them it is still " + effect + ", there are more" : "");
}

} // namespace workbench
