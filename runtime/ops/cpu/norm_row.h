// RMSNorm of one row, shared by the norm and the rotary kernels.
#pragma once

#include "runtime/ops/cpu/wide.h"
#include "runtime/ops/op_types.h"

#include <cmath>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Sum of squares with four independent accumulators: one would wait for itself at every step.
template <typename T>
Acc<T> sumOfSquares(const T* row, int64_t width) {
    std::array<Wide<T>, 4> totals;
    totals.fill(Wide<T>::fill(0));
    int turn = 0;
    forEachVector<T>(width, [&](int64_t offset, int64_t count) {
        const auto x = Wide<T>::load(row + offset, count);
        totals[turn] = fmadd(x, x, totals[turn]);
        turn = (turn + 1) % 4;
    });
    return ((totals[0] + totals[1]) + (totals[2] + totals[3])).sum();
}

/// output = RMSNorm(row), given the row's sum of squares. `output` may be `row`.
template <typename T>
void normalizeRow(const T* row, Acc<T> squares, const T* weight, T* output, int64_t width,
                  const NormSpec& spec) {
    const auto mean = squares / static_cast<Acc<T>>(width);
    const auto inverse = Wide<T>::fill(1 / std::sqrt(mean + static_cast<Acc<T>>(spec.eps)));
    const auto shift = Wide<T>::fill(static_cast<Acc<T>>(spec.weightOffset));
    if (weight == nullptr) {
        forEachVector<T>(width, [&](int64_t offset, int64_t count) {
            (Wide<T>::load(row + offset, count) * inverse).store(output + offset, count);
        });
    } else if (spec.cast == NormCast::AfterWeight) {
        forEachVector<T>(width, [&](int64_t offset, int64_t count) {
            const auto factor = shift + Wide<T>::load(weight + offset, count);
            (Wide<T>::load(row + offset, count) * inverse * factor).store(output + offset, count);
        });
    } else if (spec.weightOffset == 0) {
        forEachVector<T>(width, [&](int64_t offset, int64_t count) {
            const auto normed = (Wide<T>::load(row + offset, count) * inverse).rounded();
            (normed * Wide<T>::load(weight + offset, count)).store(output + offset, count);
        });
    } else {
        forEachVector<T>(width, [&](int64_t offset, int64_t count) {
            const auto factor = (shift + Wide<T>::load(weight + offset, count)).rounded();
            const auto normed = (Wide<T>::load(row + offset, count) * inverse).rounded();
            (normed * factor).store(output + offset, count);
        });
    }
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
