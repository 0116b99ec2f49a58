#pragma once

#include "core/graph/graph.h"

#include <string>

namespace workbench {

/// The name that the fused ops know an activation by: silu, gelu, gelu_tanh, relu or sigmoid; empty when they
/// have no kernel for it.
std::string activationKernel(const Node& node);

/// The condition as messages put it.
inline constexpr const char* kActivationWithKernel =
    "an activation with a kernel: silu, gelu, gelu_tanh, relu or sigmoid";

} // namespace workbench
