#include "runtime/worker/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace workbench {
namespace {

std::optional<std::int64_t> numberIn(const char* file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    return stream >> number ? std::optional(number) : std::nullopt; // "max" is no number: no limit
}

std::optional<std::int64_t> systemAvailable() {
    std::ifstream stream("/proc/meminfo");
    std::string key;
    std::int64_t kilobytes = 0;
    std::string unit;
    while (stream >> key >> kilobytes && std::getline(stream, unit))
        if (key == "MemAvailable:")
            return kilobytes * 1024;
    return std::nullopt;
}

/// Page cache counts as used there, but is given back under pressure.
std::optional<std::int64_t> groupAvailable() {
    const auto limit = numberIn("/sys/fs/cgroup/memory.max");
    const auto used = numberIn("/sys/fs/cgroup/memory.current");
    if (!limit || !used)
        return std::nullopt;
    std::ifstream stream("/sys/fs/cgroup/memory.stat");
    std::string key;
    std::int64_t bytes = 0;
    std::int64_t cache = 0;
    while (stream >> key >> bytes)
        if (key == "inactive_file" || key == "active_file")
            cache += bytes;
    return *limit - *used + cache;
}

} // namespace

std::optional<std::int64_t> availableMemoryBytes() {
    auto available = systemAvailable();
    if (const auto group = groupAvailable())
        available = available ? std::min(*available, *group) : *group;
    return available;
}

std::optional<std::int64_t> peakMemoryBytes() {
    std::ifstream stream("/proc/self/status");
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with("VmHWM:")) // "VmHWM:    123456 kB"
            return std::stoll(line.substr(6)) * 1024;
    return std::nullopt;
}

} // namespace workbench
