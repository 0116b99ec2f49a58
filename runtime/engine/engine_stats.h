#pragma once

#include "runtime/engine/scheduler.h"

#include <cstdint>
#include <deque>

namespace workbench {

/// Output tokens per second of the latest steps, pauses without work not counted.
class TokenRate {
public:
    void add(std::int64_t tokens, double seconds) {
        m_steps.push_back({tokens, seconds});
        if (m_steps.size() > kSteps)
            m_steps.pop_front();
    }
    double tokensPerSecond() const {
        double tokens = 0;
        double seconds = 0;
        for (const Step& step : m_steps) {
            tokens += static_cast<double>(step.tokens);
            seconds += step.seconds;
        }
        return seconds > 0 ? tokens / seconds : 0;
    }

private:
    static constexpr std::size_t kSteps = 64;
    struct Step {
        std::int64_t tokens = 0;
        double seconds = 0;
    };
    std::deque<Step> m_steps;
};

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
    TokenRate rate;

    /// The share of the steps' time that scheduling, sampling and callbacks take.
    double overhead() const { return stepSeconds > 0 ? 1 - modelSeconds / stepSeconds : 0; }
};

} // namespace workbench
