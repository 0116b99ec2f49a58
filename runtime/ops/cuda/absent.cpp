#include "runtime/ops/kernels.h"

namespace workbench::ops {

const Kernels* cudaKernels() {
    return nullptr;
}

} // namespace workbench::ops
