#pragma once

#include <cstdint>
#include <optional>

namespace workbench {

/// Memory that this process can still take without swapping: what the system reports as available, or what is
/// left under the control group's limit if that is less. Nothing where the system does not tell.
std::optional<std::int64_t> availableMemoryBytes();

/// The most memory that this process has had at once, as the system counts it (resident).
std::optional<std::int64_t> peakMemoryBytes();

} // namespace workbench
