#pragma once

#include "fusion/match/graph_view.h"
#include "fusion/site.h"

#include <string>
#include <vector>

namespace workbench {

/// What the coverage of a pattern is measured against.
enum class Counted {
    attentions,        ///< attention ops and spelled-out attentions
    feedForwardBlocks, ///< see FeedForwardBlock
    norms,             ///< places where a reciprocal square root or a norm op occurs
    experts,           ///< choices of experts, see ExpertBlock
};

/// A feed-forward block: the module that owns an activation between two matrix products, outside of
/// attention.
struct FeedForwardBlock {
    std::string module;
    std::vector<NodeId> activations;
};

/// The block that a module belongs to: the child of the outermost numbered module
/// ("model.layers.3.mlp.experts.act_fn" -> "model.layers.3.mlp"), numbered children included ("h.0.mlps.1").
/// Without a numbered module: the parent.
std::string_view feedForwardModule(std::string_view path);

std::vector<FeedForwardBlock> feedForwardBlocks(const GraphView& view);

/// One entry per pattern, in their order, `found` still 0. Counts from ops alone, so that a place that the
/// matcher overlooks shows.
std::vector<Coverage> countCoverage(const GraphView& view);

} // namespace workbench
