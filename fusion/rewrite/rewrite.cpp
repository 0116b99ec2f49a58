#include "core/graph/verify.h"
#include "fusion/fusion.h"
#include "fusion/rewrite/application.h"

#include <algorithm>

namespace workbench {
namespace {

constexpr std::size_t kFree = static_cast<std::size_t>(-1);
using State = SiteOutcome::State;

/// The states of all sites: who may be applied, given who stands before it.
class Choice {
public:
    Choice(const GraphView& view, const std::vector<Site>& sites, const Decisions& decisions)
        : m_sites(sites), m_decisions(decisions), m_nodes(view.graph().nodes.size()) {
        choose();
    }

    std::vector<SiteOutcome> outcomes;

    /// The site must not be applied; what it contained or kept out is looked at again.
    void exclude(std::size_t site, std::size_t with) {
        m_excluded.emplace_back(site, with);
        choose();
    }

private:
    void choose() {
        m_taken.assign(m_nodes, kFree);
        outcomes.assign(m_sites.size(), {});
        for (std::size_t i = 0; i < m_sites.size(); ++i)
            outcomes[i] = outcomeOf(i);
    }

    SiteOutcome outcomeOf(std::size_t index) {
        const Site& site = m_sites[index];
        SiteOutcome outcome;
        const auto decided = m_decisions.find(site.id);
        const Decision decision = decided == m_decisions.end() ? Decision::undecided : decided->second;
        if (site.verdict == SiteVerdict::refused || site.verdict == SiteVerdict::present) {
            outcome.state = site.verdict == SiteVerdict::refused ? State::refused : State::present;
            return outcome;
        }
        if (decision == Decision::reject) {
            outcome.state = State::rejected;
            return outcome;
        }
        std::size_t owner = kFree;
        std::size_t owned = 0;
        for (const NodeId node : site.nodes)
            if (const std::size_t by = m_taken[static_cast<std::size_t>(node)]; by != kFree) {
                owner = owned == 0 ? by : owner;
                owned += by == owner;
            }
        if (owned == site.nodes.size()) {
            outcome.state = State::contained;
            outcome.with = m_sites[owner].id;
            return outcome;
        }
        if (decision == Decision::undecided)
            return outcome;
        for (const auto& [excluded, with] : m_excluded)
            if (excluded == index)
                owner = with;
        if (owner != kFree) {
            outcome.state = State::conflicts;
            outcome.with = m_sites[owner].id;
            return outcome;
        }
        outcome.state = State::applied;
        for (const NodeId node : site.nodes)
            m_taken[static_cast<std::size_t>(node)] = index;
        return outcome;
    }

    const std::vector<Site>& m_sites;
    const Decisions& m_decisions;
    std::size_t m_nodes;
    std::vector<std::size_t> m_taken; ///< by canonical node: the applied site that removes it
    std::vector<std::pair<std::size_t, std::size_t>> m_excluded;
};

/// The site's operands from outside, and its values that others use.
void fillBorders(SiteOutcome& outcome, const GraphView& view, const std::vector<NodeId>& nodes) {
    const auto inside = [&](NodeId node) { return std::binary_search(nodes.begin(), nodes.end(), node); };
    const auto once = [](std::vector<ValueId>& list, ValueId value) {
        if (std::find(list.begin(), list.end(), value) == list.end())
            list.push_back(value);
    };
    for (const NodeId node : nodes) {
        for (const ValueId value : operands(view.node(node)))
            if (view.producer(value) == kNone || !inside(view.producer(value)))
                once(outcome.inputs, value);
        for (const ValueId value : view.node(node).outputs)
            for (const Use& use : view.uses(value))
                if (use.node == kNone || !inside(use.node))
                    once(outcome.outputs, value);
    }
}

/// Every value that others use is made again, with operands from outside only.
Status check(const GraphView& view, const Applied& applied, const Site& site, const SiteOutcome& outcome) {
    std::vector<ValueId> made;
    for (const auto& node : applied.replacement.nodes())
        made.insert(made.end(), node.outputs.begin(), node.outputs.end());
    for (const ValueId value : outcome.outputs)
        if (std::find(made.begin(), made.end(), value) == made.end())
            return Error{ErrorCode::badInput,
                         "The replacement of pattern " + site.pattern + " does not make %" +
                             view.graph().value(value).name + ".",
                         site.id};
    for (const auto& node : applied.replacement.nodes())
        for (const Argument& argument : node.arguments) {
            const auto* value = std::get_if<ValueRef>(&argument.value);
            const bool removed =
                value && value->id != kNone && value->id < static_cast<ValueId>(view.graph().values.size()) &&
                std::find(made.begin(), made.end(), value->id) == made.end() &&
                view.producer(value->id) != kNone &&
                std::binary_search(site.nodes.begin(), site.nodes.end(), view.producer(value->id));
            if (removed)
                return Error{ErrorCode::badInput,
                             "The replacement of pattern " + site.pattern + " reads %" +
                                 view.graph().value(value->id).name + ", which it removes.",
                             site.id};
        }
    return Ok{};
}

Result<std::vector<Applied>> buildAll(const MatchContext& context, const Analysis& analysis,
                                      std::vector<SiteOutcome>& outcomes) {
    const GraphView& view = context.view();
    std::vector<Applied> applied;
    auto nextId = static_cast<ValueId>(view.graph().values.size());
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        if (outcomes[i].state != State::applied)
            continue;
        const Found& found = analysis.matches->found[i];
        const Match& match = found.match;
        fillBorders(outcomes[i], view, match.nodes);
        applied.push_back({i, &match, Replacement(view.graph(), nextId, match.root)});
        found.pattern->build(context, match, applied.back().replacement);
        nextId += static_cast<ValueId>(applied.back().replacement.values().size());
        if (Status status = check(view, applied.back(), analysis.sites[i], outcomes[i]); !status)
            return status.error();
    }
    return applied;
}

} // namespace

Result<Rewritten> rewrite(const Graph& canonical, const Analysis& analysis, const Decisions& decisions) {
    if (!analysis.matches || analysis.matches->graph != hashOf(canonical))
        return Error{ErrorCode::badInput,
                     "The analysis was made of another graph: analyze the graph that is to be rewritten.",
                     {}};
    const MatchContext context(canonical);
    Choice choice(context.view(), analysis.sites, decisions);
    for (;;) {
        auto applied = buildAll(context, analysis, choice.outcomes);
        if (!applied)
            return applied.error();
        Assembly assembly = assemble(context.view(), *applied);
        if (!assembly.cycle.empty()) {
            const std::size_t last = assembly.cycle.back(), first = assembly.cycle.front();
            choice.exclude((*applied)[last].site, (*applied)[first].site);
            continue;
        }
        if (Status status = verify(assembly.graph); !status)
            return Error{status.error().code, "The rewritten graph is broken: " + status.error().message,
                         status.error().where};
        for (std::size_t i = 0; i < applied->size(); ++i)
            choice.outcomes[(*applied)[i].site].replacement = std::move(assembly.replacements[i]);
        return Rewritten{std::move(assembly.graph), std::move(choice.outcomes)};
    }
}

} // namespace workbench
