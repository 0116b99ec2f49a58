#include "app/diagram/colours.h"

#include "fusion/match/pattern.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace workbench {
namespace {

using State = NodeMark::State;

State stateOf(const SiteOutcome& outcome) {
    switch (outcome.state) {
    case SiteOutcome::State::applied:
        return State::applied;
    case SiteOutcome::State::rejected:
    case SiteOutcome::State::conflicts:
        return State::rejected;
    case SiteOutcome::State::undecided:
        return State::offered;
    case SiteOutcome::State::present:
        return State::present;
    case SiteOutcome::State::refused:
        return State::refused;
    case SiteOutcome::State::contained:
        return State::none; // the site around it has the colour
    }
    return State::none;
}

void mark(std::vector<NodeMark>& marks, NodeId node, const NodeMark& made) {
    if (node < 0 || static_cast<std::size_t>(node) >= marks.size())
        return;
    NodeMark& known = marks[static_cast<std::size_t>(node)];
    if (made.state > known.state)
        known = made;
}

/// Where a site is that removes nothing: the node that is fused already, or the one that failed a condition.
NodeId placeOf(const Site& site) {
    if (site.miss && site.miss->node != kNone)
        return site.miss->node;
    return site.roles.empty() ? kNone : site.roles.front().node;
}

} // namespace

std::int32_t colourSlot(std::string_view pattern) {
    const auto all = patterns();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].name == pattern)
            return static_cast<std::int32_t>(i);
    return -1;
}

std::vector<NodeMark> markCanonical(const Graph& canonical, const Analysis& analysis,
                                    const std::vector<SiteOutcome>& outcomes) {
    std::vector<NodeMark> marks(canonical.nodes.size());
    for (std::size_t i = 0; i < analysis.sites.size() && i < outcomes.size(); ++i) {
        const Site& site = analysis.sites[i];
        const NodeMark made{stateOf(outcomes[i]), colourSlot(site.pattern), static_cast<std::int32_t>(i)};
        for (const NodeId node : site.nodes)
            mark(marks, node, made);
        if (site.nodes.empty())
            mark(marks, placeOf(site), made);
    }
    return marks;
}

std::vector<NodeMark> markRewritten(const Rewritten& rewritten, const Analysis& analysis) {
    std::vector<NodeMark> marks(rewritten.graph.nodes.size());
    std::map<NodeId, std::size_t> sitesByPlace;
    for (std::size_t i = 0; i < rewritten.outcomes.size(); ++i) {
        const Site& site = analysis.sites[i];
        const NodeMark made{State::applied, colourSlot(site.pattern), static_cast<std::int32_t>(i)};
        if (rewritten.outcomes[i].state == SiteOutcome::State::applied)
            for (const NodeId node : rewritten.outcomes[i].replacement)
                mark(marks, node, made);
        else if (stateOf(rewritten.outcomes[i]) != State::none && site.verdict != SiteVerdict::applicable)
            sitesByPlace.emplace(placeOf(site), i);
    }
    // Nodes that no rewrite took still tell what was found at them.
    for (std::size_t i = 0; i < rewritten.graph.nodes.size(); ++i)
        if (const std::vector<NodeId>& origins = rewritten.graph.nodes[i].origins; origins.size() == 1)
            if (const auto found = sitesByPlace.find(origins.front()); found != sitesByPlace.end())
                mark(marks, static_cast<NodeId>(i),
                     {stateOf(rewritten.outcomes[found->second]),
                      colourSlot(analysis.sites[found->second].pattern),
                      static_cast<std::int32_t>(found->second)});
    return marks;
}

std::vector<BoxMark> marksOf(const Box& box, const std::vector<NodeMark>& marks) {
    std::map<std::pair<std::int32_t, State>, std::int64_t> counts;
    std::unordered_set<std::int32_t> counted;
    for (const NodeId node : box.nodes) {
        if (static_cast<std::size_t>(node) >= marks.size())
            continue;
        const NodeMark& made = marks[static_cast<std::size_t>(node)];
        if (made.site >= 0 && counted.insert(made.site).second)
            ++counts[{made.slot, made.state}];
    }
    std::vector<BoxMark> found;
    for (const auto& [key, sites] : counts)
        found.push_back({key.first, key.second, sites});
    std::sort(found.begin(), found.end(), [](const BoxMark& a, const BoxMark& b) {
        return a.slot != b.slot ? a.slot < b.slot : a.state > b.state;
    });
    return found;
}

} // namespace workbench
