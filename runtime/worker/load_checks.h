// What is looked at before weights are read: an Error says what cannot be loaded and what to do instead.
#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"
#include "runtime/program/placement.h"
#include "runtime/program/weight_store.h"
#include "runtime/worker/json_edge.h"

namespace workbench {

/// The system ends a process that takes more than there is, without a word; so it is asked first.
Status checkMemory(const WeightStore& store, const Graph& graph, c10::Device device);
/// Fewer bits are a matter of packed weights.
Status checkPlacement(const Placement& placement, ops::WeightFormat format);
/// Fewer bits of nothing are the model as it is under another name.
Status checkFormat(ops::WeightFormat format, const ProductWeights& weights);
/// The graph states every dtype; a request that expects another one ("dtype" of its weights) has the wrong
/// graph.
Status checkDtype(const Json& weights, const Graph& graph);

} // namespace workbench
