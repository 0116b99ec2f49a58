#pragma once

#include "fusion/match/graph_view.h"
#include "fusion/site.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace workbench {

class MatchContext;

/// Everything that one attempt of a pattern has found. Copied out of a Search when it succeeds.
struct Match {
    NodeId root = kNone;
    std::vector<NodeId> nodes; ///< that the replacement removes; ascending once settled
    std::vector<std::pair<std::string_view, ValueId>> captures;
    std::vector<RoleNode> roles;
    std::vector<std::pair<std::string_view, FactValue>> facts;
    std::vector<ValueId> outputs; ///< of the site: may have users outside
    std::vector<DerivedParameter> derived;
    bool present = false; ///< the graph already has the fused op here

    ValueId value(std::string_view capture) const; ///< kNone when not captured
    const FactValue* fact(std::string_view name) const;
    template <typename T>
    T fact(std::string_view name, T otherwise) const {
        const FactValue* found = fact(name);
        return found ? std::get<T>(*found) : otherwise;
    }
};

/// A condition that an attempt asked, and the answer.
struct CheckedCondition {
    std::string condition; ///< "the mean runs over the last dim"
    std::string found;     ///< "dim=[-1]"
    NodeId node = kNone;   ///< where
    bool holds = false;
};

/// One attempt to match a pattern on a const graph. Conditions are asked for one by one; the first one that
/// fails after the most conditions have held is kept as the reason, over all alternatives that were tried.
class Search {
public:
    Search(const MatchContext& context, NodeId root);

    const GraphView& view() const { return m_view; }
    const MatchContext& context() const { return m_context; }
    const Match& match() const { return m_match; }
    Match takeMatch() { return std::move(m_match); }
    NodeId root() const { return m_match.root; }

    /// A condition: counts when it holds, else becomes the reason (when it is the furthest so far). `found`
    /// says what is there, whether the condition holds or not; it is called only then, and while recording.
    template <typename Found>
    bool require(bool holds, NodeId node, std::string_view expected, Found found) {
        if (holds) {
            ++m_held;
            if (m_recording)
                m_checked.push_back({std::string(expected), found(), node, true});
            return true;
        }
        if (m_held > m_bestHeld) {
            m_bestHeld = m_held;
            m_miss = NoMatch{node, std::string(expected), found()};
            if (m_recording)
                m_furthest = m_checked;
        }
        return false;
    }
    bool requireOp(ValueId value, std::string_view op, NodeId at, std::string_view expected);

    void capture(std::string_view name, ValueId value) { m_match.captures.emplace_back(name, value); }
    ValueId value(std::string_view capture) const { return m_match.value(capture); }
    void fact(std::string_view name, FactValue value);
    void role(std::string_view role, NodeId node) { m_match.roles.push_back({std::string(role), node}); }
    void derived(DerivedParameter parameter) { m_match.derived.push_back(std::move(parameter)); }
    /// The node belongs to the site; all users of its values must too, unless they are outputs.
    void take(NodeId node) { m_match.nodes.push_back(node); }
    /// Removed as well when nothing else uses it (casts, unsqueezed tables).
    void takeIfFree(NodeId node) { m_free.push_back(node); }
    void output(ValueId value) { m_match.outputs.push_back(value); }
    void present() { m_match.present = true; }
    /// Takes over the findings of another match (a norm inside of a larger pattern), but not its outputs.
    void include(const Match& other);

    /// Alternatives: what was captured since the mark is forgotten, the furthest reason is not.
    struct Mark {
        std::size_t nodes, free, captures, roles, facts, outputs, derived;
        std::size_t checked;
        int held;
    };
    Mark mark() const;
    bool restore(const Mark& mark); ///< returns false, so that `a || restore(m) || b` reads well

    /// The last condition: no value that would vanish is used elsewhere. Sorts the nodes, adds the free ones.
    bool settle();

    const NoMatch& miss() const { return m_miss; }

    /// From now on conditions that hold are kept, too. Off by default: telling what was found costs more than
    /// asking.
    void record() { m_recording = true; }
    /// Of the way that matched: what was asked on it and still counts.
    const std::vector<CheckedCondition>& checked() const { return m_checked; }
    /// What held before the reason, miss(), on the way that led to it.
    const std::vector<CheckedCondition>& heldBeforeMiss() const { return m_furthest; }

private:
    const MatchContext& m_context;
    const GraphView& m_view;
    Match m_match;
    std::vector<NodeId> m_free;
    int m_held = 0;
    int m_bestHeld = -1;
    NoMatch m_miss;
    bool m_recording = false;
    std::vector<CheckedCondition> m_checked, m_furthest;
};

} // namespace workbench
