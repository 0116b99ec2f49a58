#include "app/session/plan_builder.h"

#include <filesystem>

namespace workbench {
namespace {

std::string_view decisionName(const Decisions& decisions, const std::string& id) {
    const auto found = decisions.find(id);
    if (found == decisions.end() || found->second == Decision::undecided)
        return "undecided";
    return found->second == Decision::apply ? "apply" : "reject";
}

template <typename Value>
const Value* find(const std::map<std::string, Value, std::less<>>& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

PlanSite planSite(const Graph& canonical, const Site& site, const SiteOutcome& outcome,
                  const Decisions& decisions, const PlanContext& context) {
    PlanSite planned;
    planned.id = site.id;
    planned.pattern = site.pattern;
    planned.module = site.module;
    planned.verdict = verdictName(site.verdict);
    planned.state = stateName(outcome.state);
    planned.decision = decisionName(decisions, site.id);
    planned.with = outcome.with;
    planned.reason = site.miss ? reasonText(canonical, *site.miss) : "";
    planned.parameters = site.parameters;
    planned.facts = site.facts;
    if (const std::string* note = find(context.notes, site.id))
        planned.note = *note;
    if (const PlanProof* proof = find(context.proofs, site.id);
        proof && outcome.state == SiteOutcome::State::applied)
        planned.proof = *proof;
    return planned;
}

/// How the rewritten graph calls each of its derived parameters.
using DerivedNames = std::map<std::pair<std::vector<std::string>, std::int64_t>, std::string>;

DerivedNames derivedNames(const Graph& graph) {
    DerivedNames names;
    for (const Input& input : graph.inputs)
        if (input.derived)
            names.emplace(std::pair(input.derived->sources, input.derived->dim), input.target);
    return names;
}

} // namespace

std::string_view stateName(SiteOutcome::State state) {
    using State = SiteOutcome::State;
    switch (state) {
    case State::applied:
        return "applied";
    case State::rejected:
        return "rejected";
    case State::undecided:
        return "undecided";
    case State::contained:
        return "contained";
    case State::conflicts:
        return "conflicts";
    case State::present:
        return "present";
    case State::refused:
        return "refused";
    }
    __builtin_unreachable();
}

std::string_view verdictName(SiteVerdict verdict) {
    switch (verdict) {
    case SiteVerdict::applicable:
        return "applicable";
    case SiteVerdict::present:
        return "present";
    case SiteVerdict::refused:
        return "refused";
    }
    __builtin_unreachable();
}

std::string sourceText(const Graph& graph, NodeId node) {
    if (node == kNone)
        return {};
    const SourceFrame* frame = graph.sourceFrame(node);
    if (!frame)
        return {};
    return std::filesystem::path(frame->file).filename().string() + ":" + std::to_string(frame->line);
}

std::string reasonText(const Graph& canonical, const NoMatch& miss) {
    std::string text = "expected " + miss.expected + ", found " + miss.found;
    if (miss.node == kNone)
        return text;
    const Node& node = canonical.node(miss.node);
    text += " at " + (node.outputs.empty() ? node.op : canonical.value(node.outputs.front()).name);
    const std::string source = sourceText(canonical, miss.node);
    return source.empty() ? text : text + " (" + source + ")";
}

FusionPlan buildPlan(const Graph& canonical, const Analysis& analysis, const Decisions& decisions,
                     const Rewritten& rewritten, const PlanContext& context) {
    FusionPlan plan;
    plan.fingerprint = context.fingerprint;
    plan.model = context.model;
    plan.versions = context.versions;
    plan.weights = context.weights;
    plan.endToEnd = context.endToEnd;
    const DerivedNames names = derivedNames(rewritten.graph);
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        const Site& site = analysis.sites[i];
        const SiteOutcome& outcome = rewritten.outcomes[i];
        plan.sites.push_back(planSite(canonical, site, outcome, decisions, context));
        if (outcome.state != SiteOutcome::State::applied)
            continue;
        for (const DerivedParameter& derived : site.derived)
            if (const auto name = names.find({derived.sources, derived.dim}); name != names.end())
                plan.derived.push_back({name->second, derived, site.id});
    }
    return plan;
}

} // namespace workbench
