#pragma once

#include <c10/core/Device.h>

namespace workbench {

/// Where a program runs, and how.
struct Placement {
    c10::Device device{c10::kCPU};
    /// With packed weights, kernels without the dispatcher and values that stay from run to run: the CPU's
    /// way. Without, every node is an operator on plain tensors, which is a GPU's way; on the CPU it shows
    /// what a GPU would do.
    bool direct = true;

    static Placement on(c10::Device device) { return {device, device.is_cpu()}; }
};

} // namespace workbench
