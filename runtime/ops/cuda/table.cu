#include "runtime/ops/cuda/common.cuh"

namespace workbench::ops {
namespace cuda {

constexpr Kernels kTable{"cuda", WORKBENCH_KERNELS(WORKBENCH_KERNEL_ENTRY)};

} // namespace cuda

const Kernels* cudaKernels() {
    return &cuda::kTable;
}

} // namespace workbench::ops
