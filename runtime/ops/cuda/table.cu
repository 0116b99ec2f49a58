#include "runtime/ops/cuda/common.cuh"

namespace workbench::ops {

const Kernels* cudaKernels() {
    static const Kernels kTable{"cuda", cuda::rmsNorm, cuda::actAndMul, cuda::rope, cuda::attention};
    return &kTable;
}

} // namespace workbench::ops
