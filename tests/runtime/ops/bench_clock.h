// The clock of the benches.
#pragma once

#include <ATen/Parallel.h>

#include <ctime>
#include <functional>

namespace workbench::ops {

/// Seconds: on one thread processor time, which a busy machine stretches less; else wall time.
inline double now() {
    timespec time{};
    clock_gettime(at::get_num_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double seconds(const std::function<void()>& work) {
    const double start = now();
    work();
    return now() - start;
}

} // namespace workbench::ops
