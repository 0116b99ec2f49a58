// Attention by its definition, in double precision: two passes per query over all tokens, with the mask
// decided pair by pair.
#pragma once

#include "runtime/ops/attention.h"

#include <vector>

namespace workbench::ops::testing {

/// [T, Hq, Dv] in row-major order, not rounded.
std::vector<double> plainAttention(const AttentionArgs& args);

/// Whether token i sees token j; i and j count tokens of the call.
bool plainSees(const std::vector<int64_t>& positions, int64_t i, int64_t j, MaskKind mask, int64_t window);

std::vector<int64_t> toIntegers(const at::Tensor& positions);

} // namespace workbench::ops::testing
