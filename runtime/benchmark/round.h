#pragma once

#include "core/support/result.h"
#include "runtime/benchmark/load.h"
#include "runtime/engine/engine.h"

#include <atomic>
#include <functional>
#include <vector>

namespace workbench::benchmark {

/// When a request's tokens came, in seconds after the start of the round.
struct RequestTimes {
    double arrival = 0;
    std::int64_t promptTokens = 0;
    std::vector<double> tokens;
};

/// One program's work on a load.
struct RoundSample {
    std::vector<RequestTimes> requests;
    std::int64_t steps = 0;
    double stepSeconds = 0;
    double modelSeconds = 0; ///< of stepSeconds, inside of the model
};

/// Told ten times a second how many tokens there are and how long it took.
using Pace = std::function<void(std::int64_t tokens, double seconds)>;

/// Runs the load on an idle engine and waits for its end. Requests without a delay arrive together: they are
/// in the first step, whatever the threads do. Tokens are the model's own, greedy.
Result<RoundSample> runRound(Engine& engine, const Load& load, const std::atomic<bool>& cancel,
                             const Pace& pace);

/// A program that takes part.
struct Contender {
    std::string name;
    Engine* engine = nullptr;
};

/// Told between rounds of programs, so that what it does costs no measured time.
struct Observer {
    std::function<void(std::size_t contender, std::int64_t round, std::int64_t tokens, double seconds)>
        onPace;
    std::function<void(std::size_t contender, std::int64_t round, const RoundSample&)>
        onSample; ///< that counts
    std::function<void(std::int64_t roundsDone)> onRound;
};

/// Runs `loads`, one a round in turn, on all contenders one after the other, A B C, B C A, ...: what drifts
/// meets every program at every place of the order. The first round, number -1, is not counted.
Status runInterleaved(const std::vector<Contender>& contenders, const std::vector<Load>& loads,
                      std::int64_t rounds, const std::atomic<bool>& cancel, const Observer& observer);

} // namespace workbench::benchmark
