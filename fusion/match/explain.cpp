#include "fusion/match/explain.h"

#include "fusion/match/find.h"

#include <algorithm>

namespace workbench {
namespace {

/// The place that findSites() made the site of: the ids of a pattern are numbered in node order.
NodeId placeOf(const MatchContext& context, const Pattern& pattern, const Site& site) {
    std::vector<NodeId> places = pattern.places(context);
    std::sort(places.begin(), places.end());
    SiteNumbers numbers;
    for (const NodeId place : places)
        if (numbers.nextId(pattern.name, pattern.module(context, place)) == site.id)
            return place;
    return kNone;
}

/// A condition that one node was asked twice in the same words (an op and its number of operands) or that
/// many nodes were asked in a row (their users) is told once.
std::vector<CheckedCondition> toldOnce(const std::vector<CheckedCondition>& checked) {
    std::vector<CheckedCondition> told;
    for (const CheckedCondition& next : checked) {
        const auto same = [&](const CheckedCondition& other) {
            return other.condition == next.condition && (other.node == next.node || &other == &told.back());
        };
        if (std::none_of(told.begin(), told.end(), same))
            told.push_back(next);
    }
    return told;
}

} // namespace

std::vector<CheckedCondition> explain(const Graph& canonical, const Site& site) {
    const Pattern* pattern = findPattern(site.pattern);
    if (!pattern)
        return {};
    const MatchContext context(canonical);
    const NodeId place = placeOf(context, *pattern, site);
    if (place == kNone)
        return {};
    Search search(context, place);
    search.record();
    if (pattern->match(search, place) && search.settle())
        return toldOnce(search.checked());
    std::vector<CheckedCondition> conditions = toldOnce(search.heldBeforeMiss());
    const NoMatch& miss = search.miss();
    conditions.push_back({miss.expected, miss.found, miss.node, false});
    return conditions;
}

} // namespace workbench
