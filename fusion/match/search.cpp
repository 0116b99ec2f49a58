#include "fusion/match/search.h"

#include "fusion/match/context.h"

#include <algorithm>

namespace workbench {

ValueId Match::value(std::string_view capture) const {
    for (const auto& [name, value] : captures)
        if (name == capture)
            return value;
    return kNone;
}

const FactValue* Match::fact(std::string_view name) const {
    for (const auto& [key, value] : facts)
        if (key == name)
            return &value;
    return nullptr;
}

Search::Search(const MatchContext& context, NodeId root) : m_context(context), m_view(context.view()) {
    m_match.root = root;
}

bool Search::requireOp(ValueId value, std::string_view op, NodeId at, std::string_view expected) {
    const bool holds = value != kNone && m_view.producerOp(value) == op;
    const NodeId where = value != kNone && m_view.producer(value) != kNone ? m_view.producer(value) : at;
    return require(holds, where, expected,
                   [&] { return value == kNone ? "a number" : m_view.describe(value); });
}

void Search::fact(std::string_view name, FactValue value) {
    m_match.facts.emplace_back(name, std::move(value));
}

void Search::include(const Match& other) {
    m_match.nodes.insert(m_match.nodes.end(), other.nodes.begin(), other.nodes.end());
    m_held += static_cast<int>(other.nodes.size());
}

Search::Mark Search::mark() const {
    return {m_match.nodes.size(),   m_free.size(),        m_match.captures.size(),
            m_match.roles.size(),   m_match.facts.size(), m_match.outputs.size(),
            m_match.derived.size(), m_checked.size(),     m_held};
}

bool Search::restore(const Mark& mark) {
    m_match.nodes.resize(mark.nodes);
    m_free.resize(mark.free);
    m_match.captures.resize(mark.captures);
    m_match.roles.resize(mark.roles);
    m_match.facts.resize(mark.facts);
    m_match.outputs.resize(mark.outputs);
    m_match.derived.resize(mark.derived);
    m_checked.resize(mark.checked);
    m_held = mark.held;
    return false;
}

bool Search::settle() {
    auto& nodes = m_match.nodes;
    const auto arrange = [&nodes] {
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    };
    arrange();
    const auto inside = [&nodes](const Use& use) {
        return use.node != kNone && std::binary_search(nodes.begin(), nodes.end(), use.node);
    };
    for (const NodeId node : nodes)
        for (const ValueId value : m_view.node(node).outputs) {
            if (std::find(m_match.outputs.begin(), m_match.outputs.end(), value) != m_match.outputs.end())
                continue;
            for (const Use& use : m_view.uses(value))
                if (!require(inside(use), node, "no value inside of the pattern is used elsewhere", [&] {
                        const std::string user =
                            use.node == kNone ? "the graph's outputs" : m_view.node(use.node).op;
                        return inside(use) ? "all users are inside"
                                           : m_view.describe(value) + " is also used by " + user;
                    }))
                    return false;
        }
    // Later nodes first, so that a chain of free nodes goes as a whole.
    std::sort(m_free.rbegin(), m_free.rend());
    for (const NodeId node : m_free) {
        const auto& outputs = m_view.node(node).outputs;
        const bool unused = std::all_of(outputs.begin(), outputs.end(), [&](ValueId value) {
            const auto uses = m_view.uses(value);
            return std::all_of(uses.begin(), uses.end(), inside);
        });
        if (unused) {
            nodes.push_back(node);
            arrange();
        }
    }
    return true;
}

} // namespace workbench
