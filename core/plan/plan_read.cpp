#include "core/plan/plan.h"
#include "core/support/strict_json.h"

#include <cmath>
#include <limits>
#include <set>

namespace workbench {
namespace {

/// The counterpart of what the writer does with NaN and infinities.
double number(const JsonView& view) {
    if (!view.raw().is_string())
        return view.number();
    const std::string text = view.oneOf({"nan", "inf", "-inf"});
    if (text == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

PlanProof readProof(const JsonView& view) {
    view.expectKeys({"kind", "dtype", "max_abs_error", "relative_error", "tolerance", "tokens", "passed"});
    PlanProof proof;
    proof.kind = view.at("kind").oneOf({"weights", "random-weights"});
    proof.dtype = view.at("dtype").text();
    proof.maxAbsError = number(view.at("max_abs_error"));
    proof.relativeError = number(view.at("relative_error"));
    proof.tolerance = number(view.at("tolerance"));
    proof.tokens = view.at("tokens").integer();
    proof.passed = view.at("passed").boolean();
    return proof;
}

using Fact = decltype(PlanSite::facts)::mapped_type;

Fact readFact(const JsonView& view) {
    const nlohmann::json& value = view.raw();
    if (value.is_boolean())
        return view.boolean();
    if (value.is_number_float())
        return view.number();
    if (value.is_number())
        return view.integer();
    if (value.is_string())
        return view.text();
    if (value.is_array())
        return !value.empty() && value.front().is_number() ? Fact(view.integers()) : Fact(view.texts());
    view.fault(std::string("is ") + value.type_name() + ", which no fact can be");
    return false;
}

PlanSite readSite(const JsonView& view) {
    view.expectKeys({"id", "pattern", "module", "verdict", "state", "decision", "parameters", "facts"},
                    {"with", "reason", "note", "proof"});
    PlanSite site;
    site.id = view.at("id").text();
    site.pattern = view.at("pattern").text();
    site.module = view.at("module").text();
    site.verdict = view.at("verdict").oneOf({"applicable", "present", "refused"});
    site.state = view.at("state").oneOf(
        {"applied", "rejected", "undecided", "contained", "conflicts", "present", "refused"});
    site.decision = view.at("decision").oneOf({"apply", "reject", "undecided"});
    site.with = view.has("with") ? view.at("with").text() : "";
    site.reason = view.has("reason") ? view.at("reason").text() : "";
    site.note = view.has("note") ? view.at("note").text() : "";
    site.parameters = view.at("parameters").texts();
    if (view.has("facts"))
        for (const auto& [name, fact] : view.at("facts").members())
            site.facts.emplace(name, readFact(fact));
    if (view.has("proof"))
        site.proof = readProof(view.at("proof"));
    if (!site.id.starts_with(site.pattern + "@"))
        view.at("id").fault("is '" + site.id + "', which does not begin with its pattern '" + site.pattern +
                            "@'");
    return site;
}

PlanDerived readDerived(const JsonView& view, const std::set<std::string>& sites) {
    view.expectKeys({"name", "sources", "dim", "site"});
    PlanDerived derived;
    derived.name = view.at("name").text();
    derived.from.sources = view.at("sources").texts();
    derived.from.dim = view.at("dim").integer();
    derived.site = view.at("site").text();
    if (!sites.contains(derived.site))
        view.at("site").fault("is '" + derived.site + "', a site that the plan does not have");
    return derived;
}

PlanModel readModel(const JsonView& view) {
    view.expectKeys({"class", "model_type", "dtype", "layers"});
    return {view.at("class").text(), view.at("model_type").text(), view.at("dtype").text(),
            view.at("layers").integer()};
}

void checkFingerprint(const JsonView& view) {
    constexpr std::string_view prefix = "sha256:";
    const std::string text = view.text();
    const bool hex = text.find_first_not_of("0123456789abcdef", prefix.size()) == std::string::npos;
    if (!text.starts_with(prefix) || text.size() != prefix.size() + 64 || !hex)
        view.fault("is '" + text + "', not sha256: and 64 hexadecimal digits");
}

/// The version comes first: another version may have other keys.
bool checkSchema(const JsonView& root) {
    if (!root.raw().is_object()) {
        root.fault(std::string("it is ") + root.raw().type_name() + ", not an object");
        return false;
    }
    const JsonView schema = root.at("schema");
    if (root.has("schema") && schema.integer() != kPlanSchema)
        schema.fault("is " + schema.raw().dump() + "; this version reads plans of schema " +
                     std::to_string(kPlanSchema));
    return root.has("schema") && schema.raw() == kPlanSchema;
}

FusionPlan readRoot(const JsonView& root) {
    FusionPlan plan;
    root.expectKeys({"schema", "fingerprint", "model", "versions", "sites", "derived"},
                    {"weights", "end_to_end"});
    checkFingerprint(root.at("fingerprint"));
    plan.fingerprint = root.at("fingerprint").text();
    plan.model = readModel(root.at("model"));
    for (const auto& [name, version] : root.at("versions").members())
        plan.versions.emplace(name, version.text());
    plan.weights = root.has("weights") ? root.at("weights").text() : "";
    std::set<std::string> ids;
    for (const JsonView& view : root.at("sites").items()) {
        plan.sites.push_back(readSite(view));
        if (!ids.insert(plan.sites.back().id).second)
            view.at("id").fault("is '" + plan.sites.back().id + "', the id of an earlier site");
    }
    for (const JsonView& view : root.at("derived").items())
        plan.derived.push_back(readDerived(view, ids));
    if (root.has("end_to_end"))
        plan.endToEnd = readProof(root.at("end_to_end"));
    return plan;
}

} // namespace

Result<FusionPlan> planFromJson(std::string_view text, std::string_view where) {
    const std::string what = "the plan " + std::string(where);
    auto json = parseJson(text, what);
    if (!json)
        return json.error();
    JsonFault fault(what);
    const JsonView root(*json, "", fault);
    FusionPlan plan;
    if (checkSchema(root))
        plan = readRoot(root);
    if (fault.found())
        return fault.error();
    return plan;
}

} // namespace workbench
