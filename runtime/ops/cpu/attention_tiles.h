// Attention for many queries: scores and values of a tile of keys as matrix products.
#pragma once

#include "runtime/ops/attention_plan.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Computes one task whose span uses tiles. T is float, BFloat16 or Half; sums are float32. Where products of
/// BFloat16 have instructions of their own, a probability is the sum of two of them, which is within 2^-17;
/// an infinite value gives NaN there.
template <typename T>
void attendTiles(const AttentionCall& call, const AttentionTask& task);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
