#include "runtime/ops/cpu/kernel_entries.h"
#include "runtime/ops/cpu/norm_row.h"
#include "runtime/ops/thread_pool.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {
namespace {

template <typename T>
void addRow(const T* a, const T* b, T* sum, int64_t width) {
    forEachVector<T>(width, [&](int64_t offset, int64_t count) {
        (Wide<T>::load(a + offset, count) + Wide<T>::load(b + offset, count)).store(sum + offset, count);
    });
}

template <typename T>
void run(const RmsNormCall& call) {
    const int64_t width = call.input.width;
    const auto* input = static_cast<const T*>(call.input.data);
    const auto* residual = static_cast<const T*>(call.residual.data);
    const auto* weight = static_cast<const T*>(call.weight);
    parallelFor(call.input.count(), rowGrain(width), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const T* row = input + call.input.offset(i);
            if (residual != nullptr) {
                // The rounded sum is read back: it is what the norm of the unfused graph sees.
                T* sum = static_cast<T*>(call.sum) + i * width;
                addRow(row, residual + call.residual.offset(i), sum, width);
                row = sum;
            }
            normalizeRow(row, sumOfSquares(row, width), weight, static_cast<T*>(call.normed) + i * width,
                         width, call.spec);
        }
    });
}

} // namespace

void rmsNorm(const RmsNormCall& call) {
    WORKBENCH_DISPATCH(call.dtype, run<T>(call))
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
