#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>

namespace workbench {

struct CompareOptions {
    bool locations = true; ///< module path and innermost source line of each node
};

/// The first thing in which two graphs differ, or nullopt. Value names do not count; inputs are matched by
/// kind and target.
std::optional<std::string> firstDifference(const Graph& a, const Graph& b,
                                           const CompareOptions& options = {});

inline bool structurallyEqual(const Graph& a, const Graph& b, const CompareOptions& options = {}) {
    return !firstDifference(a, b, options);
}

} // namespace workbench
