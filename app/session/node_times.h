#pragma once

#include "core/graph/graph.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace workbench {

/// Time of the nodes of the canonical graph, measured: milliseconds of a step, by the name of the first value
/// that the node makes. Names hold for one canonical graph only, which `fingerprint` tells.
struct NodeTimes {
    using ByName = std::map<std::string, double, std::less<>>;
    std::string fingerprint; ///< the plan's, see core/plan/plan.h
    std::string rewritten;   ///< fingerprintOf() the program after the rewrites: `after` is of no other
    ByName before;
    ByName after; ///< a fused node's time stands at the canonical node whose result it makes
    bool operator==(const NodeTimes&) const = default;
};

/// What tells a rewritten graph from those of other decisions.
std::string fingerprintOf(const Graph& rewritten);

/// From what a worker says of each program in its profile: {"steps", "nodes": {name of a value: seconds}}.
/// Empty for a worker that says nothing of nodes.
NodeTimes::ByName nodeTimes(const nlohmann::json& profile, const Graph& program, const Graph& canonical);

/// The same numbers by the names of a graph that was derived from the canonical one.
NodeTimes::ByName timesIn(const Graph& derived, const Graph& canonical, const NodeTimes::ByName& times);

} // namespace workbench
