#pragma once

#include "app/session/bench_statistics.h"
#include "app/session/node_times.h"
#include "app/session/weight_format.h"
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

/// One request of a trace.
struct TraceRequest {
    double arrivalSeconds = 0;
    std::int64_t promptTokens = 0;
    std::int64_t newTokens = 0;
};

/// What a load is about, and so which figure counts.
enum class LoadKind {
    single,  ///< a prompt and its text: new tokens over the time of both
    decode,  ///< a short prompt and a long text: new tokens over the time of their steps
    prefill, ///< a long prompt and its next token: prompt tokens over their time
    mixed,   ///< several requests at once: new tokens over the time of all
    trace,   ///< requests that arrive one after the other; likewise
};

/// The work that every program does in every round.
struct BenchLoad {
    std::int64_t promptTokens = 64; ///< of each synthetic prompt
    std::int64_t newTokens = 32;    ///< the first one comes with the prompt
    std::int64_t rounds = 6;
    std::vector<std::string> prompts; ///< texts, one a round in turn, instead of the synthetic prompt
    LoadKind kind = LoadKind::single;
    std::int64_t concurrency = 1;         ///< requests at once
    std::vector<TraceRequest> trace;      ///< in order of arrival, instead of all that
    std::string weights = kStoredWeights; ///< one of kWeightFormats, for every program but transformers
};

/// "single", "decode", ...; nothing for other texts.
std::string_view nameOf(LoadKind kind);
std::optional<LoadKind> loadKindFromName(std::string_view name);
/// The sizes that a load has where nobody says otherwise.
BenchLoad loadOf(LoadKind kind);

/// Tokens per second of one round.
struct BenchRound {
    double prefill = 0; ///< prompt tokens over the time until every request has its first token
    double decode = 0;  ///< later tokens over the time since the first first token; 0: there are none
    double output = 0;  ///< new tokens over the time of all
};
enum class Quantity { prefill, decode, output };
/// The one that a load is about.
Quantity mainQuantity(const BenchLoad& load);

/// Milliseconds, over all requests of all rounds.
struct Latency {
    double firstToken = 0; ///< median: from a request's arrival to its first token
    double p50 = 0;        ///< between two tokens of a request; NaN where there are no later ones
    double p90 = 0;
    double p99 = 0;
    double max = 0;
    double firstTokenP90 = 0;
    double firstTokenP99 = 0;
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
    std::optional<BenchProgram> native;  ///< hand-written code over the same kernels
    std::string nativeReason;            ///< why there is none, where it was asked for
    std::optional<BenchProgram> eager;   ///< the model as transformers runs it, on weights as they are stored
    std::string eagerReason;             ///< likewise
    /// What the worker says, shown and not interpreted; null where it was not asked: {"relative_error",
    /// "tokens", "equal"} of the hand-written code against the model.
    nlohmann::json nativeCheck;
    nlohmann::json profile; ///< {"before", "after", "native"}: see BenchEngines::profile, without "nodes"
    std::optional<NodeTimes> nodeTimes; ///< of the same run; nothing: not asked for
    nlohmann::json memory;              ///< {"peak_bytes", "weight_bytes", "kv_cache_bytes"}
    nlohmann::json
        products; ///< "before", "after" with weights in fewer bits, see Runtime::products; else null
};

std::vector<double> speeds(const BenchProgram& program, Quantity quantity);
Comparison compare(const BenchProgram& before, const BenchProgram& after, Quantity quantity);
/// ", weights in int8" for a text about the report; empty for weights as stored, which transformers always
/// has.
std::string describeWeights(const BenchReport& report);
/// What of the programs is not in fewer bits though the load's weights are, a sentence each: "after: 7
/// matrices that products read stay as they are stored ...".
std::vector<std::string> describeProducts(const BenchReport& report);
/// What the pattern is worth: with it against without it.
Comparison effectOf(const PatternEffect& effect, const BenchReport& report, Quantity quantity);

inline constexpr int kBenchSchema = 1;

/// {"schema", "model", "machine", "load", "before", "after", "change"}, and what was asked for of "native",
/// "against_native", "eager", "against_eager", "patterns", "profile", "memory", "products", "node_ms". A
/// program is {"tokens_per_s": {"median", "min", "max"}} of the load's main quantity, the same under
/// "prefill" and "decode", latency and rounds. "against_native" is after over native, as "change" is after
/// over before. Where a program was asked for and cannot be had, it is {"available": false, "reason"}.
/// "node_ms" is {"fingerprint", "rewritten", "before": {name: ms}, "after"}, see NodeTimes.
nlohmann::ordered_json toJson(const BenchReport& report);
/// Strict: an unknown key or schema, a wrong type and figures that do not agree with their rounds are errors
/// that name the place. `where`: the file.
Result<BenchReport> benchFromJson(std::string_view text, std::string_view where);
Result<BenchReport> readBench(const std::filesystem::path& file);
Status writeBench(const BenchReport& report, const std::filesystem::path& file);

} // namespace workbench
