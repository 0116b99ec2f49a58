#pragma once

#include "runtime/ops/attention.h"
#include "runtime/program/bound_node.h"

namespace workbench {

/// The node's work without the dispatcher, for the operators that a decode step consists of: fused ones,
/// products with packed weights, views. Boxing and unboxing costs 1 to 3 us a node, of which a decode step
/// has hundreds; a view by hand costs less than 0.2. Empty for all other operators. To be made when the
/// node's slots and packed weight are final.
DirectCall directCall(const BoundNode& node);

/// Attention of node number `index` among the attention nodes, with the cache that the run brings, if any.
/// Into `output` where that is a tensor already.
void attend(const ops::AttentionArgs& args, std::int32_t index, const RunOptions& options,
            at::Tensor& output);

} // namespace workbench
