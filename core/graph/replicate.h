#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// Which layers of the whole model a cut trace stands for. The cut program holds the layers `prefix`.0 to
/// `prefix`.N.
struct LayerPlan {
    std::string prefix;                 ///< "model.layers"
    std::int64_t count = 0;             ///< layers of the whole model
    std::vector<std::int64_t> tracedAs; ///< layer i of the whole model is a copy of traced layer tracedAs[i]
};

/// The graph of the whole model: each traced layer's nodes are cloned under new parameter names, module paths
/// and layer numbers (the `layer` argument of workbench.attention), and chained through the one value that
/// crosses from layer to layer.
///
///     cut:    %x -> layer 0 -> %y -> norm               plan {"model.layers", 3, {0, 0, 0}}
///     whole:  %x -> layer 0 -> %y -> layer 1 -> %y_l1 -> layer 2 -> %y_l2 -> norm
///
/// Names are deterministic: values of copies get "_l" and the layer's number appended. Errors (trace the
/// whole model instead): a layer that is not one contiguous run of nodes with one outgoing value, nodes
/// between layers, a hidden state that cannot be told from other values.
Result<Graph> replicateLayers(const Graph& cut, const LayerPlan& plan);

} // namespace workbench
