#pragma once

#include "fusion/match/graph_view.h"

#include <optional>
#include <string>

/// What an attention mask that the graph computes from positions really masks.

namespace workbench {

struct ProvenMask {
    std::string kind;        ///< "causal", "sliding", "full"
    std::int64_t window = 0; ///< for sliding: query i sees key j when 0 <= i - j < window
};

/// Follows the mask through index arithmetic (arange, comparisons, tril, where, ...) as a function of row and
/// column. nullopt when it depends on anything else (an input, a buffer) or masks another set: then nothing
/// is proven. The mask is boolean (true: may be seen; `inverted`: must not be seen) or added to the scores (0
/// or a large negative number).
std::optional<ProvenMask> proveMask(const GraphView& view, ValueId mask, bool inverted = false);

} // namespace workbench
