#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

namespace workbench {

/// Checks the graph's invariants: unique value names, operands defined before use, producers consistent,
/// indices in range, outputs defined, module ancestors present. The error names the node.
Status verify(const Graph& graph);

} // namespace workbench
