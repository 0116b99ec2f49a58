// How long the CPU's kernels run: what is left of a step is dispatch, views, allocation and scheduling.
#pragma once

#include "runtime/ops/kernels.h"

namespace workbench::ops {

/// Seconds by kernel, of calls from one thread at a time.
struct KernelTimes {
#define WORKBENCH_KERNEL_SECONDS(NAME, CALL, OP) double NAME = 0;
    WORKBENCH_KERNELS(WORKBENCH_KERNEL_SECONDS)
    WORKBENCH_CPU_KERNELS(WORKBENCH_KERNEL_SECONDS)
#undef WORKBENCH_KERNEL_SECONDS
};

/// From now on cpuKernels() gives kernels that add their time to `times`, which must live until the next
/// call; null: the plain ones again, which nothing slows down. While no kernel runs.
void timeKernels(KernelTimes* times);

} // namespace workbench::ops
