#pragma once

#include "core/support/result.h"
#include "runtime/program/placement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// Where this worker can run programs: "cpu", then "cuda:0", "cuda:1", ... of a build with CUDA that sees a
/// GPU.
std::vector<std::string> deviceNames();

/// The placement of a name: one of deviceNames(), "cuda" for the first GPU, or "cpu-plain", which runs on the
/// CPU what a GPU would run (Placement::direct): for tests. An Error names the devices that there are.
Result<Placement> placementNamed(const std::string& name);

/// Memory that programs can still take there; nothing where the system does not tell.
std::optional<std::int64_t> availableBytes(c10::Device device);
/// What this process had there at most; of a GPU, in tensors.
std::optional<std::int64_t> peakBytes(c10::Device device);

} // namespace workbench
