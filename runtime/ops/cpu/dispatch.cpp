#include "runtime/ops/kernels.h"

#include <ATen/Version.h>

#include <algorithm>
#include <string_view>

namespace workbench::ops {
namespace cpu {

namespace baseline {
const Kernels& table();
}
#ifdef WORKBENCH_HAVE_X86_SETS
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
namespace avx512_bf16 {
void linear(const LinearCall& call);
}
#endif

} // namespace cpu

namespace {

#ifdef WORKBENCH_HAVE_X86_SETS
/// AVX-512 with its bfloat16 dot product, which the product alone uses.
Kernels withBf16Product() {
    Kernels kernels = cpu::avx512::table();
    kernels.name = "avx512_bf16";
    kernels.linear = cpu::avx512_bf16::linear;
    return kernels;
}
#endif

std::vector<const Kernels*> runnable() {
    std::vector<const Kernels*> sets{&cpu::baseline::table()};
#ifdef WORKBENCH_HAVE_X86_SETS
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c"))
        return sets;
    sets.push_back(&cpu::avx2::table());
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
        return sets;
    sets.push_back(&cpu::avx512::table());
    static const Kernels kWithBf16 = withBf16Product();
    if (__builtin_cpu_supports("avx512bf16"))
        sets.push_back(&kWithBf16);
#endif
    return sets;
}

const Kernels& choose() {
    const std::string_view capability = at::get_cpu_capability();
    const std::string_view highest = capability == "AVX512" ? "avx512"
                                     : capability == "AVX2" ? "avx2"
                                                            : "baseline";
    const auto& sets = cpuKernelSets();
    const auto place =
        std::find_if(sets.begin(), sets.end(), [&](const Kernels* set) { return set->name == highest; });
    if (place == sets.end())
        return *sets.back();
    const bool bf16 = highest == "avx512" && place + 1 != sets.end();
    return **(bf16 ? place + 1 : place);
}

} // namespace

const std::vector<const Kernels*>& cpuKernelSets() {
    static const std::vector<const Kernels*> kSets = runnable();
    return kSets;
}

const Kernels& cpuKernels() {
    static const Kernels& kChosen = choose();
    return kChosen;
}

} // namespace workbench::ops
