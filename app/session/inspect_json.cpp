#include "app/session/inspect_json.h"

#include "app/session/plan_builder.h"
#include "app/session/summary.h"
#include "core/graph/module_tree.h"

#include <nlohmann/json.hpp>

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

Json moduleJson(const ModuleTree& module) {
    Json children = Json::array();
    for (const ModuleTree& child : module.children)
        children.push_back(moduleJson(child));
    return {{"label", module.label},          {"path", module.path},
            {"class", module.className},      {"count", module.count},
            {"nodes", module.nodes},          {"parameter_bytes", module.parameterBytes},
            {"children", std::move(children)}};
}

Json modelJson(const TracedModel& model) {
    const ModelFacts& facts = model.facts;
    return {{"class", facts.className},
            {"model_type", facts.modelType},
            {"dtype", facts.dtype},
            {"layers", facts.layers},
            {"hidden_size", facts.hiddenSize},
            {"vocabulary", facts.vocabulary},
            {"max_window", facts.maxWindow},
            {"context_length", facts.contextLength},
            {"weights", model.hasWeights},
            {"versions", Json(facts.versions)},
            {"warnings", facts.warnings}};
}

Json sourceJson(const Graph& graph, NodeId node) {
    const SourceFrame* frame = node == kNone ? nullptr : graph.sourceFrame(node);
    if (!frame)
        return nullptr;
    return {{"file", frame->file}, {"line", frame->line}};
}

Json factsJson(const Facts& facts) {
    Json json = Json::object();
    for (const auto& [name, value] : facts)
        json[name] = std::visit([](const auto& fact) -> Json { return fact; }, value);
    return json;
}

/// The node that stands for a site: where it failed, else its first.
NodeId nodeOf(const Site& site) {
    if (site.miss)
        return site.miss->node;
    if (!site.roles.empty())
        return site.roles.front().node;
    return site.nodes.empty() ? kNone : site.nodes.front();
}

Json siteJson(const Graph& graph, const Site& site, const SiteOutcome& outcome) {
    Json json = {{"id", site.id},
                 {"pattern", site.pattern},
                 {"module", site.module},
                 {"verdict", shownVerdict(site, outcome)},
                 {"state", stateName(outcome.state)},
                 {"reason", site.miss ? reasonText(graph, *site.miss) : ""},
                 {"source", sourceJson(graph, nodeOf(site))},
                 {"facts", factsJson(site.facts)},
                 {"parameters", site.parameters}};
    if (!outcome.with.empty())
        json["with"] = outcome.with;
    return json;
}

Json nearMissJson(const Graph& graph, const Site& site) {
    const Node* node = site.miss->node == kNone ? nullptr : &graph.node(site.miss->node);
    return {{"pattern", site.pattern},
            {"site", site.id},
            {"node", node && !node->outputs.empty() ? graph.value(node->outputs.front()).name : ""},
            {"op", node ? node->op : ""},
            {"source", sourceJson(graph, site.miss->node)},
            {"expected", site.miss->expected},
            {"found", site.miss->found}};
}

/// {"qkv": {"applicable": 3, "applied": 0, ..., "denominator": 3}}; applicable counts what was found,
/// whatever is decided.
Json patternsJson(const Analysis& analysis, const Rewritten& rewritten) {
    Json patterns = Json::object();
    for (const Coverage& coverage : analysis.coverage) {
        Json counts = {{"applicable", coverage.found},
                       {"applied", 0},
                       {"rejected", 0},
                       {"refused", 0},
                       {"contained", 0},
                       {"conflicts", 0},
                       {"present", 0},
                       {"undecided", 0}};
        for (std::size_t i = 0; i < analysis.sites.size(); ++i)
            if (analysis.sites[i].pattern == coverage.pattern) {
                Json& count = counts[std::string(stateName(rewritten.outcomes[i].state))];
                count = count.get<int>() + 1;
            }
        counts["denominator"] = coverage.places;
        patterns[coverage.pattern] = std::move(counts);
    }
    return patterns;
}

Json coverageJson(const Analysis& analysis) {
    Json list = Json::array();
    for (const Coverage& coverage : analysis.coverage)
        list.push_back({{"pattern", coverage.pattern},
                        {"found", coverage.found},
                        {"places", coverage.places},
                        {"counted", coverage.counted}});
    return list;
}

} // namespace

Json treeJson(const Session& session) {
    return moduleJson(buildModuleTree(session.model().canonical));
}

Json inspectJson(const Session& session, const Rewritten& rewritten) {
    const TracedModel& model = session.model();
    Json sites = Json::array();
    Json nearMisses = Json::array();
    for (std::size_t i = 0; i < model.analysis.sites.size(); ++i) {
        const Site& site = model.analysis.sites[i];
        sites.push_back(siteJson(model.canonical, site, rewritten.outcomes[i]));
        if (site.miss)
            nearMisses.push_back(nearMissJson(model.canonical, site));
    }
    return {{"model", modelJson(model)},
            {"fingerprint", model.fingerprint},
            {"patterns", patternsJson(model.analysis, rewritten)},
            {"coverage", coverageJson(model.analysis)},
            {"sites", std::move(sites)},
            {"near_misses", std::move(nearMisses)},
            {"tree", treeJson(session)}};
}

} // namespace workbench
