#include "fusion/match/find.h"

#include <algorithm>

namespace workbench {
namespace {

std::vector<std::string> parametersOf(const GraphView& view, const Match& match) {
    std::vector<std::string> names;
    for (const NodeId node : match.nodes)
        for (const ValueId value : operands(view.node(node)))
            if (view.isParameter(value)) {
                const std::string& target = view.input(value)->target;
                if (std::find(names.begin(), names.end(), target) == names.end())
                    names.push_back(target);
            }
    return names;
}

void fill(Site& site, const GraphView& view, const Match& match) {
    site.verdict = match.present ? SiteVerdict::present : SiteVerdict::applicable;
    if (!match.present)
        site.nodes = match.nodes;
    site.roles = match.roles;
    site.parameters = parametersOf(view, match);
    site.derived = match.derived;
    for (const auto& [name, value] : match.facts)
        site.facts.emplace(std::string(name), value);
}

} // namespace

std::string SiteNumbers::nextId(std::string_view pattern, std::string_view module) {
    std::string id = std::string(pattern) + "@" + std::string(module);
    const int earlier = m_count[id]++;
    return earlier == 0 ? id : id + "#" + std::to_string(earlier);
}

std::size_t hashOf(const Graph& graph) {
    std::size_t seed = graph.values.size();
    const auto mix = [&](std::size_t value) { seed = (seed ^ value) * 0x9e3779b97f4a7c15; };
    for (const Node& node : graph.nodes) {
        mix(std::hash<std::string>()(node.op));
        for (const Argument& argument : node.arguments) {
            if (const auto* value = std::get_if<ValueRef>(&argument.value))
                mix(static_cast<std::size_t>(value->id));
            else if (const auto real = number(&argument.value))
                mix(std::hash<double>()(*real));
            else
                mix(argument.value.index());
        }
    }
    return seed;
}

FoundSites findSites(const MatchContext& context) {
    const GraphView& view = context.view();
    FoundSites all;
    SiteNumbers numbers;
    for (const Pattern& pattern : patterns()) {
        std::vector<NodeId> places = pattern.places(context);
        std::sort(places.begin(), places.end());
        for (const NodeId place : places) {
            Search search(context, place);
            const bool matched = pattern.match(search, place) && search.settle();
            Site site;
            site.pattern = pattern.name;
            site.module = pattern.module(context, place);
            if (matched)
                fill(site, view, search.match());
            else
                site.miss = search.miss();
            site.id = numbers.nextId(site.pattern, site.module);
            all.sites.push_back(std::move(site));
            all.found.push_back({&pattern, matched ? search.takeMatch() : Match()});
        }
    }
    return all;
}

} // namespace workbench
