#pragma once

#include "core/graph/graph.h"

#include <string>

namespace workbench::pt2 {

/// data/sample_inputs/NAME.pt: zeros for each user input at example sizes, as torch.save((args, kwargs))
/// writes them. Compilers of torch use them as example inputs. Empty when an input has a type or size that it
/// cannot hold.
std::string sampleInputs(const Graph& graph);

} // namespace workbench::pt2
