#pragma once

#include "runtime/engine/scheduler.h"

#include <cstdint>

namespace workbench {

/// Counts since the engine's start, unless said otherwise. Queue and blocks are those after the latest step.
struct EngineStats {
    SchedulerCounts scheduler;
    std::int64_t finished = 0; ///< with a stop or at their length
    std::int64_t cancelled = 0;
    std::int64_t failed = 0;
    std::int64_t refused = 0;
    std::int64_t newTokens = 0;
    std::int64_t steps = 0;
    double stepSeconds = 0;  ///< of all steps, from planning to the last callback
    double modelSeconds = 0; ///< of these, inside of the model
};

} // namespace workbench
