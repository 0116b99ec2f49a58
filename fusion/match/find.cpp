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

std::vector<Found> findSites(const MatchContext& context) {
    const GraphView& view = context.view();
    std::vector<Found> all;
    SiteNumbers numbers;
    for (const Pattern& pattern : patterns()) {
        std::vector<NodeId> places = pattern.places(context);
        std::sort(places.begin(), places.end());
        for (const NodeId place : places) {
            Search search(context, place);
            const bool matched = pattern.match(search, place) && search.settle();
            Found found{&pattern, {}, {}};
            found.site.pattern = pattern.name;
            found.site.module = pattern.module(context, place);
            if (matched) {
                found.match = search.match();
                fill(found.site, view, found.match);
            } else {
                found.site.miss = search.miss();
            }
            found.site.id = numbers.nextId(found.site.pattern, found.site.module);
            all.push_back(std::move(found));
        }
    }
    return all;
}

} // namespace workbench
