#include "runtime/worker/devices.h"

#include "runtime/ops/kernels.h"
#include "runtime/worker/available_memory.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>

#include <algorithm>

namespace workbench {
namespace {

std::int64_t gpuCount() {
    const bool isCuda = at::accelerator::getAccelerator() == c10::kCUDA;
    return ops::cudaKernels() && isCuda ? at::accelerator::deviceCount() : 0;
}

Placement placementOn(c10::Device device) {
    if (device.is_cuda()) {
        // Sums stay in float32 until they are rounded once, as on the CPU: what is proven must not depend on
        // how a library splits a product.
        at::globalContext().setAllowBF16ReductionCuBLAS(false);
        at::globalContext().setAllowFP16ReductionCuBLAS(false);
        at::globalContext().setBlasPreferredBackend(at::BlasBackend::Cublaslt);
    }
    return Placement::on(device);
}

constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

} // namespace

std::vector<std::string> deviceNames() {
    std::vector<std::string> names{"cpu"};
    for (std::int64_t i = 0; i < gpuCount(); ++i)
        names.push_back("cuda:" + std::to_string(i));
    return names;
}

Result<Placement> placementNamed(const std::string& name) {
    if (name == "cpu-plain")
        return Placement{c10::kCPU, false};
    const std::vector<std::string> names = deviceNames();
    const std::string whole = name == "cuda" ? "cuda:0" : name;
    if (std::ranges::find(names, whole) != names.end())
        return placementOn(c10::Device(whole));
    std::string all;
    for (const std::string& known : names)
        all += (all.empty() ? "" : ", ") + known;
    return Error{ErrorCode::badInput,
                 "This worker runs programs on " + all + ", not on '" + name + "'" +
                     (ops::cudaKernels()
                          ? std::string(": no such GPU is visible to it.")
                          : ": a build with CUDA (preset cuda) on a machine with a GPU could."),
                 name};
}

std::optional<std::int64_t> availableBytes(c10::Device device) {
    if (device.is_cpu())
        return availableMemoryBytes();
    // What the allocator keeps of programs that are gone is as good as free.
    const auto stats = at::accelerator::getDeviceStats(device.index());
    const std::int64_t kept = stats.reserved_bytes[kAll].current - stats.allocated_bytes[kAll].current;
    return static_cast<std::int64_t>(at::accelerator::getMemoryInfo(device.index()).first) + kept;
}

std::optional<std::int64_t> peakBytes(c10::Device device) {
    if (device.is_cpu())
        return peakMemoryBytes();
    return at::accelerator::getDeviceStats(device.index()).allocated_bytes[kAll].peak;
}

} // namespace workbench
