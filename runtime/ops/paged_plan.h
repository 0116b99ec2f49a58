// How attention over pages is cut into parts: what the host, the CPU's kernels and CUDA's must agree on.
// C++17, as nvcc compiles it too.
#pragma once

#include "runtime/ops/attention_plan.h"

#include <cstdint>

namespace workbench::ops {

/// A part of a token's work covers so many keys, or a multiple.
constexpr int64_t kPagedPart = 512;

/// Partial results that a call may have: at a value width of 128, 34 MB of them. It bounds the parts of one
/// token where there are many tokens, which keep a GPU busy without.
constexpr int64_t kMostPartials = 65535; // where the z size of a grid ends, too

/// The positions that a token at `position` of its sequence sees; the mask is not Full. Positions start at 0.
constexpr KeyRange visibleAt(MaskKind mask, int64_t window, int64_t position) {
    const int64_t end = position + 1;
    if (mask == MaskKind::Sliding)
        return {end > window ? end - window : 0, end};
    if (mask == MaskKind::Chunked)
        return {position / window * window, end};
    return {0, end};
}

/// Parts of partKeys that hold keys of the range.
constexpr int64_t partsWith(KeyRange keys, int64_t partKeys) {
    return (keys.end - keys.begin + partKeys - 1) / partKeys;
}

/// Keys of each part of `rows` tokens that see at most mostKeys keys.
constexpr int64_t pagedPartKeys(int64_t rows, int64_t queryHeads, int64_t mostKeys) {
    const int64_t partials = rows * queryHeads;
    const int64_t most = partials < kMostPartials ? kMostPartials / (partials > 0 ? partials : 1) : 1;
    const int64_t keys = (mostKeys + most - 1) / most;
    return keys <= kPagedPart ? kPagedPart : (keys + kPagedPart - 1) / kPagedPart * kPagedPart;
}

} // namespace workbench::ops
