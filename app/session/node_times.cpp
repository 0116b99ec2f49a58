#include "app/session/node_times.h"

#include "app/session/json_fields.h"
#include "core/plan/plan.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string_view>

namespace workbench {
namespace {

std::string_view nameOf(const Graph& graph, NodeId node) {
    const std::vector<ValueId>& outputs = graph.node(node).outputs;
    return outputs.empty() ? std::string_view() : std::string_view(graph.value(outputs.front()).name);
}

/// Which canonical node stands for each node of a graph that was derived from it: the one that makes a value
/// of the same name, as a rewrite keeps the names of what it replaces; else its last origin.
class Counterparts {
public:
    explicit Counterparts(const Graph& canonical) : m_canonical(canonical) {
        for (const Value& value : canonical.values)
            if (value.producer != kNone)
                m_producers.emplace(value.name, value.producer);
    }
    /// "": none
    std::string_view of(const Graph& derived, NodeId node) const {
        const Node& it = derived.node(node);
        for (const ValueId output : it.outputs)
            if (const auto found = m_producers.find(derived.value(output).name); found != m_producers.end())
                return nameOf(m_canonical, found->second);
        return it.origins.empty() ? std::string_view() : nameOf(m_canonical, it.origins.back());
    }

private:
    const Graph& m_canonical;
    std::map<std::string_view, NodeId> m_producers;
};

NodeId countOf(const Graph& graph) {
    return static_cast<NodeId>(graph.nodes.size());
}

} // namespace

std::string fingerprintOf(const Graph& rewritten) {
    return fingerprint(rewritten, "{}");
}

NodeTimes::ByName nodeTimes(const nlohmann::json& profile, const Graph& program, const Graph& canonical) {
    NodeTimes::ByName times;
    const double steps = numberOf(profile, "steps");
    const auto nodes = profile.is_object() ? profile.value("nodes", nlohmann::json()) : nlohmann::json();
    if (!(steps > 0) || !nodes.is_object())
        return times;
    const Counterparts counterparts(canonical);
    for (NodeId node = 0; node < countOf(program); ++node) {
        const double seconds = numberOf(nodes, std::string(nameOf(program, node)).c_str());
        const std::string_view name = counterparts.of(program, node);
        if (seconds > 0 && !name.empty())
            times[std::string(name)] += 1000 * seconds / steps;
    }
    return times;
}

NodeTimes::ByName timesIn(const Graph& derived, const Graph& canonical, const NodeTimes::ByName& times) {
    NodeTimes::ByName found;
    std::set<std::string_view> taken; // two nodes of one counterpart do not count its time twice
    const Counterparts counterparts(canonical);
    for (NodeId node = countOf(derived) - 1; node >= 0; --node) {
        const std::string_view name = counterparts.of(derived, node);
        if (const auto time = times.find(name); time != times.end() && taken.insert(name).second)
            found.emplace(nameOf(derived, node), time->second);
    }
    return found;
}

} // namespace workbench
