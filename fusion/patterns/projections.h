#pragma once

#include "fusion/match/pattern.h"

#include <string_view>
#include <vector>

/// Projections (aten.linear) of one value that become a single one: shared by qkv and gate-up.

namespace workbench {

struct Projection {
    std::string_view role; ///< "q"; also the name of the capture of its output
    NodeId node = kNone;
};

/// May these be one product? Same input, biases all or none, weights that are parameters, of one dtype, and
/// used once. Takes the nodes, captures "input" and the outputs by role, records roles, derived parameters
/// and the fact sizes.
bool matchProjections(Search& search, const std::vector<Projection>& projections);

/// Adds the merged linear; `name` is the merged module's ("qkv_proj"), beside the first projection's. Returns
/// its output.
ValueId buildMerged(const MatchContext& context, const Match& match,
                    const std::vector<std::string_view>& roles, std::string_view name,
                    Replacement& replacement);

} // namespace workbench
