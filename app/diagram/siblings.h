#pragma once

#include "core/graph/graph.h"

#include <string>

namespace workbench {

/// The module `step` layers further: "model.layers.4.mlp" for "model.layers.3.mlp" and 1. The innermost
/// number counts; "" when there is no number or no such module.
std::string siblingOf(const Graph& graph, const std::string& module, int step);

} // namespace workbench
