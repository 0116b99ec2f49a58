#pragma once

#include "fusion/match/pattern.h"

/// What rope and qk-norm-rope share: the rotation of query and key of one attention.

namespace workbench {

/// Matches the rotations of the query and the key of the attention at the place. Captures query and key (what
/// is rotated, pass-through dims included), query_out and key_out, cos and sin ([batch, tokens, width]);
/// facts style and rotary_dim; roles q, k, attention.
bool matchRotations(Search& search, NodeId place);

/// True when query and key come from one op that does the pattern's work: then the site is present.
bool matchPresentRotation(Search& search, NodeId place, std::string_view pattern);

/// The captured cos and sin in a dtype.
struct Tables {
    ValueId cos, sin;
};
Tables tables(const Match& match, ScalarType dtype, Replacement& replacement);

} // namespace workbench
