#pragma once

#include "fusion/match/pattern.h"

/// What the patterns that contain an RMS norm share with rms-norm itself.

namespace workbench {

/// Nodes where a reciprocal square root is taken or a norm op stands.
std::vector<NodeId> normPlaces(const MatchContext& context);

/// Matches the norm at the place. Captures x (input), y (output) and weight (unless there is none); facts
/// eps, weight_offset and cast; role norm.
bool matchNorm(Search& search, NodeId place);

/// The arguments of workbench.rms_norm and its larger relatives after the tensors.
std::vector<Argument> normArguments(const Match& match);

} // namespace workbench
