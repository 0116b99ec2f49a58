// Online softmax (Milakov and Gimelshein 2018, arXiv:1805.02867) over tiles of keys, shared by the two
// attention kernels.
#pragma once

#include "runtime/ops/attention_plan.h"
#include "runtime/ops/cpu/wide.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Keys per tile.
constexpr int64_t kTileKeys = 128;

template <typename S>
struct RowState {
    S max = -std::numeric_limits<S>::infinity();
    S sum = 0;
};

/// Turns a row of raw dot products into unnormalised probabilities, in place, and updates the row's state.
/// Returns the factor for what was accumulated before. `distance` is the position of the first key minus that
/// of the query.
template <typename S>
S softmaxTile(const AttentionCall& call, int64_t head, int64_t distance, S* scores, int64_t count,
              RowState<S>& state) {
    using Vec = at::vec::Vectorized<S>;
    const Vec scale(static_cast<S>(call.scale));
    const S slope = call.slopes != nullptr ? static_cast<S>(call.slopes[head]) : S(0);
    Vec tileMax(-std::numeric_limits<S>::infinity());
    for (int64_t j = 0; j < count; j += Vec::size()) {
        const int64_t size = std::min<int64_t>(Vec::size(), count - j);
        Vec x = Vec::loadu(scores + j, size) * scale;
        if (call.softcap != 0)
            x = (x / Vec(static_cast<S>(call.softcap))).tanh() * Vec(static_cast<S>(call.softcap));
        if (slope != 0)
            x = x + Vec(slope) * Vec::arange(static_cast<S>(distance + j), S(1));
        x.store(scores + j, static_cast<int>(size));
        tileMax = at::vec::maximum(tileMax, size == Vec::size() ? x : Vec::set(tileMax, x, size));
    }
    const S rowMax = at::vec::vec_reduce_all<S>(
        [](const Vec& a, const Vec& b) { return at::vec::maximum(a, b); }, tileMax);
    const S newMax = std::max(state.max, rowMax);
    Vec total(0);
    for (int64_t j = 0; j < count; j += Vec::size()) {
        const int64_t size = std::min<int64_t>(Vec::size(), count - j);
        const Vec p = (Vec::loadu(scores + j, size) - Vec(newMax)).exp();
        p.store(scores + j, static_cast<int>(size));
        total = total + (size == Vec::size() ? p : Vec::set(Vec(0), p, size));
    }
    const S factor = std::exp(state.max - newMax); // exp(-inf) = 0 for the first tile
    state.max = newMax;
    state.sum = state.sum * factor +
                at::vec::vec_reduce_all<S>([](const Vec& a, const Vec& b) { return a + b; }, total);
    return factor;
}

/// What an accumulated row is multiplied with at the end; a sink is one more logit in the denominator.
template <typename S>
S finalFactor(const AttentionCall& call, int64_t head, const RowState<S>& state) {
    if (call.sinks == nullptr)
        return 1 / state.sum;
    return 1 / (state.sum + std::exp(static_cast<S>(call.sinks[head]) - state.max));
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
