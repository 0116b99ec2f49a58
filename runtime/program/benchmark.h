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

/// Measures several models in turn, A B A B ..., so that a machine that slows down slows all of them. One
/// sequence; every model gets the same tokens, given, not chosen: the work is equal whatever the numbers are.
/// The first round is not counted.
Result<std::vector<Speed>> benchmark(const std::vector<LanguageModel*>& models, const BenchmarkLoad& load,
                                     const std::atomic<bool>& cancel,
                                     const std::function<void(std::int64_t roundsDone)>& onRound);

} // namespace workbench
