#pragma once

#include "app/session/bench_statistics.h"
#include "core/support/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a measurement found, as values and as JSON (`workbench bench --json`, the window's files).

namespace workbench {

/// The work that every program does in every round.
struct BenchLoad {
    std::int64_t promptTokens = 64; ///< of the synthetic prompt
    std::int64_t newTokens = 32;
    std::int64_t rounds = 5;
    std::vector<std::string> prompts; ///< texts, one a round in turn, instead of the synthetic prompt
};

/// Tokens per second of one round.
struct BenchRound {
    double prefill = 0; ///< prompt tokens over the time of the prompt
    double decode = 0;  ///< new tokens over the time of their steps
    double output = 0;  ///< new tokens over the time of both
};
enum class Quantity { prefill, decode, output };

/// Milliseconds.
struct Latency {
    double firstToken = 0; ///< median over the rounds: the time of the prompt
    double p50 = 0;        ///< of the later tokens, each by itself
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};

struct BenchProgram {
    std::vector<BenchRound> rounds;
    Latency latency;
};

/// One pattern switched off, all else as decided.
struct PatternEffect {
    std::string pattern;
    std::int64_t sites = 0;
    BenchProgram without;
};

struct BenchReport {
    std::string model; ///< class name
    std::string dtype; ///< "f32", "bf16"
    bool randomWeights = false;
    nlohmann::json machine = nlohmann::json::object(); ///< what the worker says of itself
    BenchLoad load;
    BenchProgram before;                 ///< nothing fused
    BenchProgram after;                  ///< as decided
    std::vector<PatternEffect> patterns; ///< empty: not asked for
};

std::vector<double> speeds(const BenchProgram& program, Quantity quantity);
Comparison compare(const BenchProgram& before, const BenchProgram& after, Quantity quantity);
/// What the pattern is worth: with it against without it.
Comparison effectOf(const PatternEffect& effect, const BenchReport& report, Quantity quantity);

inline constexpr int kBenchSchema = 1;

/// {"schema", "model", "machine", "load", "before", "after", "change", "patterns"}. A program is
/// {"tokens_per_s": {"median", "min", "max"}} of the output, the same under "prefill" and "decode", latency
/// and rounds.
nlohmann::ordered_json toJson(const BenchReport& report);
/// Strict: an unknown key or schema, a wrong type and figures that do not agree with their rounds are errors
/// that name the place. `where`: the file.
Result<BenchReport> benchFromJson(std::string_view text, std::string_view where);
Result<BenchReport> readBench(const std::filesystem::path& file);
Status writeBench(const BenchReport& report, const std::filesystem::path& file);

} // namespace workbench
