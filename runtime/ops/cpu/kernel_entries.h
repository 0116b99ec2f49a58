// What each kernel source defines for the instruction set that it is compiled for.
#pragma once

#include "runtime/ops/kernels.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

void rmsNorm(const RmsNormCall& call);
void actAndMul(const ActAndMulCall& call);
void rope(const RopeCall& call);
void attention(const AttentionCall& call);

} // namespace workbench::ops::cpu::WORKBENCH_ISA
