#pragma once

#include <ctime>

namespace workbench {

/// Time that this thread has had a core: what other processes do does not count.
inline double ownMilliseconds() {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
}

} // namespace workbench
