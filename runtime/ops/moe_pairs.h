// Pairs of token and expert, sorted by expert.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace workbench::ops {

/// All on the device of the indices. Pair (token t, i-th expert) stands at place places[t * k + i]; place p
/// has token tokens[p] and expert experts[p]. The pairs of an expert are in the order of their tokens.
struct ExpertPairs {
    at::Tensor tokens;  ///< [pairs] int64
    at::Tensor experts; ///< [pairs] int64, ascending
    at::Tensor places;  ///< [pairs] int64
    /// On the CPU: [experts + 1], where the pairs of each expert begin.
    std::vector<int64_t> begins;
};

/// The expert of an index: negative ones count from the end, as where a tensor is indexed. c10::IndexError
/// for one that is out of range.
int64_t expertAt(int64_t index, int64_t experts);

/// Indices [tokens, k] of int64, as expertAt reads them. On a GPU the device asserts the range.
ExpertPairs sortByExpert(const at::Tensor& indices, int64_t experts);

} // namespace workbench::ops
