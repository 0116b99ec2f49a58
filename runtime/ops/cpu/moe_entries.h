// What kernel sources define for mixtures of experts, for the instruction set that is compiled.
#pragma once

#include "runtime/ops/moe_kernels.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

WORKBENCH_MOE_KERNELS(WORKBENCH_KERNEL_DECLARATION)
WORKBENCH_MOE_CPU_KERNELS(WORKBENCH_KERNEL_DECLARATION)

} // namespace workbench::ops::cpu::WORKBENCH_ISA
