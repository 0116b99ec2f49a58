// Attention for few queries: every key and value row is read once for all query heads that share it, so that
// decoding runs at the speed of memory.
#pragma once

#include "runtime/ops/attention_plan.h"
#include "runtime/ops/cpu/wide.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// A row's length in scratch memory: whole registers.
template <typename T>
int64_t paddedWidth(int64_t width) {
    return (width + Wide<T>::kWidth - 1) / Wide<T>::kWidth * Wide<T>::kWidth;
}

/// Numbers per row of a partial result: maximum, sum, values.
inline int64_t partialWidth(const AttentionCall& call) {
    return call.valueWidth + 2;
}

/// Computes one task. A split task leaves its result in `partials` [partial][group][partialWidth].
template <typename T>
void attendRows(const AttentionCall& call, const AttentionTask& task, Acc<T>* partials);

template <typename T>
void joinPartials(const AttentionCall& call, const AttentionJoin& join, const Acc<T>* partials);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
