#pragma once

#include "fusion/match/graph_view.h"

#include <vector>

namespace workbench {

/// One choice of experts: the nodes that pick matrices out of 3-D parameters [experts, rows, columns] by the
/// same indices, which the model computes.
struct ExpertBlock {
    ValueId indices = kNone;     ///< as the nodes read them
    std::vector<NodeId> gathers; ///< in node order; one node where the graph already has the fused op
};

/// In node order. Counted from ops and shapes alone: what the gathered matrices are used for does not matter.
std::vector<ExpertBlock> expertBlocks(const GraphView& view);

} // namespace workbench
