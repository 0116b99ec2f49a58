#include "core/plan/plan.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace workbench {
namespace {

// Keys in the order in which a reader wants them, the same bytes for the same plan.
using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity; a failed proof may have them.
Json number(double value) {
    if (std::isfinite(value))
        return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json proofJson(const PlanProof& proof) {
    return {{"kind", proof.kind},
            {"dtype", proof.dtype},
            {"max_abs_error", number(proof.maxAbsError)},
            {"relative_error", number(proof.relativeError)},
            {"tolerance", number(proof.tolerance)},
            {"tokens", proof.tokens},
            {"passed", proof.passed}};
}

Json factsJson(const PlanSite& site) {
    Json facts = Json::object();
    for (const auto& [name, value] : site.facts)
        facts[name] = std::visit(
            [](const auto& fact) -> Json {
                if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, double>)
                    return number(fact);
                else
                    return fact;
            },
            value);
    return facts;
}

Json siteJson(const PlanSite& site) {
    Json json = {{"id", site.id},           {"pattern", site.pattern}, {"module", site.module},
                 {"verdict", site.verdict}, {"state", site.state},     {"decision", site.decision}};
    if (!site.with.empty())
        json["with"] = site.with;
    if (!site.reason.empty())
        json["reason"] = site.reason;
    if (!site.note.empty())
        json["note"] = site.note;
    json["parameters"] = site.parameters;
    json["facts"] = factsJson(site);
    if (site.proof)
        json["proof"] = proofJson(*site.proof);
    return json;
}

Json derivedJson(const PlanDerived& derived) {
    return {{"name", derived.name},
            {"sources", derived.from.sources},
            {"dim", derived.from.dim},
            {"site", derived.site}};
}

} // namespace

std::string toJson(const FusionPlan& plan) {
    Json json = {{"schema", kPlanSchema},
                 {"fingerprint", plan.fingerprint},
                 {"model",
                  {{"class", plan.model.className},
                   {"model_type", plan.model.modelType},
                   {"dtype", plan.model.dtype},
                   {"layers", plan.model.layers}}},
                 {"versions", Json(plan.versions)}};
    if (!plan.weights.empty())
        json["weights"] = plan.weights;
    json["sites"] = Json::array();
    for (const PlanSite& site : plan.sites)
        json["sites"].push_back(siteJson(site));
    json["derived"] = Json::array();
    for (const PlanDerived& derived : plan.derived)
        json["derived"].push_back(derivedJson(derived));
    if (plan.endToEnd)
        json["end_to_end"] = proofJson(*plan.endToEnd);
    // Foreign bytes in a name must not throw: they are replaced.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace workbench
