// The keys or values of one head: one row for each position, evenly spaced or in the blocks of a paged cache.
#pragma once

#include "runtime/ops/attention_plan.h"

#include <algorithm>

namespace workbench::ops::cpu::WORKBENCH_ISA {

template <typename T>
struct HeadRows {
    const T* base = nullptr;
    int64_t rowStride = 0;
    int64_t blockStride = 0;
    int64_t blockTokens = 0;
    const int32_t* blocks = nullptr; // null: evenly spaced from base

    /// Calls function(rows, done, count) for each run of evenly spaced rows in [first, first + count): `rows`
    /// points to the first of `count` rows, `done` rows come before it.
    template <typename F>
    void forRuns(int64_t first, int64_t count, F&& function) const {
        if (blocks == nullptr)
            return function(base + first * rowStride, int64_t{0}, count);
        for (int64_t done = 0; done < count;) {
            const int64_t block = (first + done) / blockTokens;
            const int64_t slot = (first + done) % blockTokens;
            const int64_t size = std::min(count - done, blockTokens - slot);
            function(base + blocks[block] * blockStride + slot * rowStride, done, size);
            done += size;
        }
    }
};

template <typename T>
HeadRows<T> keyRows(const AttentionCall& call, const AttentionSpan& span, int64_t kvHead) {
    return {static_cast<const T*>(span.key) + kvHead * call.keyStrides[0], call.keyStrides[1],
            call.keyBlockStride, call.blockTokens, span.blocks};
}

template <typename T>
HeadRows<T> valueRows(const AttentionCall& call, const AttentionSpan& span, int64_t kvHead) {
    return {static_cast<const T*>(span.value) + kvHead * call.valueStrides[0], call.valueStrides[1],
            call.valueBlockStride, call.blockTokens, span.blocks};
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
