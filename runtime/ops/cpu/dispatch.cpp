#include "runtime/ops/kernel_clock.h"
#include "runtime/ops/kernels.h"

#include <ATen/Version.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

namespace workbench::ops {
namespace cpu {

namespace baseline {
const Kernels& table();
} // namespace baseline
#ifdef WORKBENCH_HAVE_X86_SETS
namespace avx2 {
const Kernels& table();
} // namespace avx2
namespace avx512 {
const Kernels& table();
} // namespace avx512
namespace avx512_bf16 {
const Kernels& table();
} // namespace avx512_bf16
#endif

} // namespace cpu

namespace {

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
    if (__builtin_cpu_supports("avx512bf16"))
        sets.push_back(&cpu::avx512_bf16::table());
#endif
    return sets;
}

const Kernels& choose() {
    const std::string capability = at::get_cpu_capability();
    const std::string_view highest = capability == "AVX512" ? "avx512"
                                     : capability == "AVX2" ? "avx2"
                                                            : "baseline";
    const auto& sets = cpuKernelSets();
    const auto place =
        std::find_if(sets.begin(), sets.end(), [&](const Kernels* set) { return set->name == highest; });
    if (place == sets.end())
        return *sets.back();
    // Without bfloat16 instructions only where that set is named.
    const char* named = std::getenv("ATEN_CPU_CAPABILITY");
    const bool bf16 = highest == "avx512" && place + 1 != sets.end() &&
                      (named == nullptr || std::string_view(named) != highest);
    return **(bf16 ? place + 1 : place);
}

const Kernels& chosen() {
    static const Kernels& kChosen = choose();
    return kChosen;
}

std::atomic<KernelTimes*> kernelTimes = nullptr;

template <typename Call>
void timed(void (*kernel)(const Call&), double KernelTimes::*seconds, const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    kernel(call);
    kernelTimes.load()->*seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#define WORKBENCH_TIMED_KERNEL(NAME, CALL, OP)                                                               \
    [](const CALL& call) { timed(chosen().NAME, &KernelTimes::NAME, call); },

const Kernels kTimed{"timed",
                     WORKBENCH_KERNELS(WORKBENCH_TIMED_KERNEL) WORKBENCH_CPU_KERNELS(WORKBENCH_TIMED_KERNEL)};

} // namespace

const std::vector<const Kernels*>& cpuKernelSets() {
    static const std::vector<const Kernels*> kSets = runnable();
    return kSets;
}

const Kernels& cpuKernels() {
    return kernelTimes.load(std::memory_order_relaxed) == nullptr ? chosen() : kTimed;
}

void timeKernels(KernelTimes* times) {
    kernelTimes = times;
}

} // namespace workbench::ops
