#pragma once

#include "runtime/program/bound_node.h"

namespace workbench {

/// A view without the dispatcher: aten.view, reshape (which may copy), transpose, split_with_sizes,
/// unsqueeze. Empty for all other operators.
DirectCall viewCall(const BoundNode& node);

} // namespace workbench
