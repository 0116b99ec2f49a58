#include "runtime/ops/kernels.h"

#include <ATen/Version.h>

#include <string>

namespace workbench::ops {
namespace cpu {

namespace baseline {
const Kernels& table();
}
#ifdef WORKBENCH_HAVE_AVX2
namespace avx2 {
const Kernels& table();
}
#endif
#ifdef WORKBENCH_HAVE_AVX512
namespace avx512 {
const Kernels& table();
}
#endif

} // namespace cpu

namespace {

const Kernels& choose() {
    [[maybe_unused]] const std::string capability = at::get_cpu_capability();
#ifdef WORKBENCH_HAVE_AVX512
    if (capability == "AVX512")
        return cpu::avx512::table();
#endif
#ifdef WORKBENCH_HAVE_AVX2
    if (capability == "AVX2" || capability == "AVX512")
        return cpu::avx2::table();
#endif
    return cpu::baseline::table();
}

} // namespace

const Kernels& cpuKernels() {
    static const Kernels& kChosen = choose();
    return kChosen;
}

} // namespace workbench::ops
