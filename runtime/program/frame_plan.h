#pragma once

#include "core/graph/graph.h"
#include "runtime/program/bound_node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// Which values of a program keep their tensor from run to run, see RunFrames: outputs of direct calls that
/// write where they are told, and views of those. Only such values as direct calls alone read, through views
/// or not: any other operator may return the memory of its argument, and what leaves the program must stay as
/// it is.
struct FramePlan {
    /// A value with memory of its own, in use from step `first` to `last` (indices of nodes, both included),
    /// views of it included.
    struct Root {
        ValueId value = kNone;
        std::int32_t first = 0;
        std::int32_t last = 0;
    };
    /// A node that a run still has to call.
    struct Step {
        std::int32_t node = 0;           ///< index
        std::vector<ValueId> drop;       ///< values outside of the frame that are not needed after it
        std::vector<std::int32_t> adopt; ///< indices into `adopted` of what the node makes
    };
    std::vector<Root> roots;
    /// Values of other operators that only direct calls read, and not through views: a frame may copy them to
    /// a tensor that stays.
    std::vector<ValueId> adopted;
    std::vector<std::int32_t> views; ///< nodes that are called once for each frame, in order
    std::vector<Step> steps;         ///< all other nodes, in order
    std::vector<std::int32_t> root; ///< by ValueId: index into `roots` of a root and of views of it, or kNone
};

/// `nodes` with their last uses and direct calls. A value whose size does not follow from `knownSymbols`,
/// those of the inputs' shapes, is none of the plan's.
FramePlan planFrame(const Graph& graph, const std::vector<BoundNode>& nodes,
                    const std::vector<std::string>& knownSymbols);

} // namespace workbench
