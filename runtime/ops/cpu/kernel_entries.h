// What each kernel source defines for the instruction set that it is compiled for.
#pragma once

#include "runtime/ops/kernels.h"

namespace workbench::ops::cpu::WORKBENCH_ISA {

WORKBENCH_KERNELS(WORKBENCH_KERNEL_DECLARATION)
WORKBENCH_CPU_KERNELS(WORKBENCH_KERNEL_DECLARATION)

} // namespace workbench::ops::cpu::WORKBENCH_ISA
