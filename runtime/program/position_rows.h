#pragma once

#include "core/graph/graph.h"
#include "runtime/program/bound_node.h"

#include <functional>
#include <string>
#include <vector>

namespace workbench {

/// What a program computes from the tokens' positions alone, row by row: the cosines and sines of rotary
/// embedding, by a dozen small operators that a decode step waits for. Row t of such a value is a function of
/// positions[t], so the rows of all positions can be computed once.
struct PositionPlan {
    ValueId positions = kNone;       ///< the input int64 [1, T]
    std::vector<std::int32_t> nodes; ///< indices of the nodes that nothing but positions and constants feed
    std::vector<ValueId> rows;       ///< values [1, T, ...] that other nodes read
    std::vector<bool> isNode;        ///< by index of node
};

/// `isConstant` tells which values no run makes. Only operators that leave the tokens apart count:
/// elementwise ones, unsqueeze, transpose, and cat along another dimension, and of their values only those
/// that have one dimension of T and otherwise constant ones. Empty where a value is not [1, T, ...] or leaves
/// the program.
PositionPlan planPositions(const Graph& graph, const std::vector<BoundNode>& nodes,
                           const std::function<bool(ValueId)>& isConstant);

/// The rows of positions 0, 1, ... of a plan's values.
class PositionRows {
public:
    static constexpr std::int64_t kMost = 1 << 16;                     ///< positions
    static constexpr std::int64_t kMostBytes = std::int64_t{64} << 20; ///< of all values together

    /// The plan's values for positions [1, N], in the order of its `rows`.
    using Compute = std::function<std::vector<at::Tensor>(const at::Tensor& positions)>;

    /// Makes sure of the rows for `positions` (int64 [1, T], contiguous). False where some are out of range;
    /// then the nodes have to run.
    bool cover(const at::Tensor& positions, const Compute& compute);
    /// The rows for `positions`, which are covered, of the plan's value `index`: [1, T, ...], in `to` where
    /// that is a tensor already.
    at::Tensor gather(std::size_t index, const at::Tensor& positions, at::Tensor to) const;

private:
    std::vector<at::Tensor> m_rows; ///< [1, N, ...], contiguous
    std::int64_t m_count = 0;
    bool m_tooLarge = false;
};

} // namespace workbench
