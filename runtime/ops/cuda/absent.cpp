#include "runtime/ops/kernels.h"
#include "runtime/ops/moe_kernels.h"

namespace workbench::ops {

const Kernels* cudaKernels() {
    return nullptr;
}

const MoeKernels* cudaMoeKernels() {
    return nullptr;
}

} // namespace workbench::ops
