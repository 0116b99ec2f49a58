// Attention for many queries: scores and values of a tile of keys as matrix products.
#pragma once

#include "runtime/ops/attention_plan.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Computes one task whose span uses tiles. T is float, BFloat16 or Half; inner roundings are those of
/// float32: where products of BFloat16 have instructions of their own, a probability is the sum of two of
/// them.
template <typename T>
void attendTiles(const AttentionCall& call, const AttentionTask& task);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
