#pragma once

#include "runtime/program/language_model.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace workbench {

struct BenchmarkLoad {
    std::int64_t promptTokens = 64;
    std::int64_t newTokens = 32;
    std::int64_t rounds = 5;
    std::vector<std::vector<std::int64_t>>
        prompts; ///< one a round in turn, instead of promptTokens made-up tokens
};

struct Spread {
    double median = 0;
    double min = 0;
    double max = 0;
};

struct Speed {
    Spread prefillTokensPerSecond;
    Spread decodeTokensPerSecond;
};

/// One model in one round.
struct BenchmarkSample {
    std::int64_t promptTokens = 0;
    double prefillSeconds = 0;
    std::vector<double> tokenSeconds; ///< of each new token
};

/// Where a measurement is: `round` -1 is the one that is not counted.
struct BenchmarkStep {
    std::size_t model = 0;
    std::int64_t round = 0;
};

/// Told between timed steps, so that what it does costs no measured time.
struct BenchmarkObserver {
    std::function<void(const BenchmarkStep&, const BenchmarkSample&)>
        onToken; ///< after the prompt and after each token; the sample so far
    std::function<void(const BenchmarkStep&, const BenchmarkSample&)> onSample; ///< a whole one that counts
    std::function<void(std::int64_t roundsDone)> onRound;
};

/// Measures several models in turn, A B A B ..., so that a machine that slows down slows all of them. One
/// sequence; every model gets the same tokens, given, not chosen: the work is equal whatever the numbers are.
/// The first round is not counted.
Result<std::vector<Speed>> benchmark(const std::vector<LanguageModel*>& models, const BenchmarkLoad& load,
                                     const std::atomic<bool>& cancel, const BenchmarkObserver& observer);

} // namespace workbench
