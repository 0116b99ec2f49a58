#include "app/session/bench_report.h"
#include "core/support/read_file.h"
#include "core/support/strict_json.h"

#include <cmath>
#include <limits>

namespace workbench {
namespace {

constexpr std::uint64_t kLargestFile = 64 << 20;
constexpr std::size_t kMostRounds = 100'000; ///< more are no measurement, and would keep a window busy
constexpr double kRounding = 1e-6;           ///< relative; numbers are written with all of their digits

double positive(const JsonView& view) {
    const double value = view.number();
    if (!(value > 0) || !std::isfinite(value))
        view.fault("is not a positive number");
    return value;
}

std::int64_t count(const JsonView& view) {
    const std::int64_t value = view.integer();
    if (value < 1)
        view.fault("is not at least 1");
    return value;
}

void checkStated(const JsonView& view, double computed) {
    if (std::abs(positive(view) - computed) > kRounding * computed)
        view.fault("does not agree with the rounds");
}

/// {"median", "min", "max"}: stated for others to read, computed from the rounds here.
void checkSpread(const JsonView& view, const std::vector<double>& values) {
    view.expectKeys({"median", "min", "max"});
    if (values.empty())
        return;
    const Spread spread = spreadOf(values);
    checkStated(view.at("median"), spread.median);
    checkStated(view.at("min"), spread.min);
    checkStated(view.at("max"), spread.max);
}

void checkPhase(const JsonView& view, const std::vector<double>& values) {
    view.expectKeys({"tokens_per_s"});
    checkSpread(view.at("tokens_per_s"), values);
}

Latency readLatency(const JsonView& view) {
    view.expectKeys({"first_token"}, {"p50", "p90", "p99", "max", "first_token_p90", "first_token_p99"});
    const auto stated = [&](const char* key, double absent) {
        return view.has(key) ? positive(view.at(key)) : absent;
    };
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const double first = positive(view.at("first_token"));
    return {first,
            stated("p50", kNone),
            stated("p90", kNone),
            stated("p99", kNone),
            stated("max", kNone),
            stated("first_token_p90", first),
            stated("first_token_p99", first)};
}

BenchRound readRound(const JsonView& view) {
    view.expectKeys({"prefill", "output"}, {"decode"});
    return {positive(view.at("prefill")), view.has("decode") ? positive(view.at("decode")) : 0,
            positive(view.at("output"))};
}

BenchProgram readProgram(const JsonView& view, const BenchLoad& load) {
    view.expectKeys({"tokens_per_s", "prefill", "latency_ms", "rounds"}, {"decode"});
    BenchProgram program;
    const auto rounds = view.at("rounds").items();
    if (rounds.size() > kMostRounds) {
        view.at("rounds").fault("has more than " + std::to_string(kMostRounds) + " entries");
        return program;
    }
    for (const JsonView& round : rounds)
        program.rounds.push_back(readRound(round));
    if (program.rounds.empty())
        view.at("rounds").fault("is empty");
    program.latency = readLatency(view.at("latency_ms"));
    checkSpread(view.at("tokens_per_s"), speeds(program, mainQuantity(load)));
    checkPhase(view.at("prefill"), speeds(program, Quantity::prefill));
    if (view.has("decode"))
        checkPhase(view.at("decode"), speeds(program, Quantity::decode));
    return program;
}

void checkComparison(const JsonView& view) {
    view.expectKeys({"ratio", "low", "high", "verdict"});
    positive(view.at("ratio"));
    positive(view.at("low"));
    positive(view.at("high"));
    view.at("verdict").oneOf({"faster", "slower", "within the spread", "too few rounds"});
}

/// Stated for others to read, computed from the rounds here.
void checkChange(const JsonView& view) {
    for (const char* quantity : {"output", "prefill", "decode"})
        if (view.has(quantity))
            checkComparison(view.at(quantity));
}

PatternEffect readEffect(const JsonView& view, const BenchLoad& load) {
    view.expectKeys({"pattern", "sites", "prefill", "without"}, {"decode", "output"});
    checkChange(view);
    return {view.at("pattern").text(), count(view.at("sites")), readProgram(view.at("without"), load)};
}

std::vector<TraceRequest> readTrace(const JsonView& view) {
    std::vector<TraceRequest> trace;
    for (const JsonView& request : view.items()) {
        request.expectKeys({"arrival_s", "prompt_tokens", "new_tokens"});
        trace.push_back({request.at("arrival_s").number(), count(request.at("prompt_tokens")),
                         count(request.at("new_tokens"))});
    }
    return trace;
}

/// Without "kind", "concurrency" and "weights": of a version that had one kind of load.
BenchLoad readLoad(const JsonView& view) {
    view.expectKeys({"prompt_tokens", "new_tokens", "rounds", "prompts"},
                    {"kind", "concurrency", "trace", "weights"});
    BenchLoad load{count(view.at("prompt_tokens")), count(view.at("new_tokens")), count(view.at("rounds")),
                   view.at("prompts").texts()};
    if (view.has("kind")) {
        view.at("kind").oneOf({"single", "decode", "prefill", "mixed", "trace"});
        load.kind = loadKindFromName(view.at("kind").text()).value_or(LoadKind::single);
    }
    if (view.has("concurrency"))
        load.concurrency = count(view.at("concurrency"));
    if (view.has("trace"))
        load.trace = readTrace(view.at("trace"));
    if (view.has("weights")) {
        static_assert(kWeightFormats.size() == 3);
        load.weights = view.at("weights").oneOf({kWeightFormats[0], kWeightFormats[1], kWeightFormats[2]});
    }
    return load;
}

void readModel(const JsonView& view, BenchReport& report) {
    view.expectKeys({"class", "dtype", "random_weights"});
    report.model = view.at("class").text();
    report.dtype = view.at("dtype").text();
    report.randomWeights = view.at("random_weights").boolean();
}

/// A program, or why there is none.
void readOptional(const JsonView& view, const BenchLoad& load, std::optional<BenchProgram>& program,
                  std::string& reason) {
    if (view.has("reason")) {
        view.expectKeys({"available", "reason"});
        reason = view.at("reason").text();
    } else {
        program = readProgram(view, load);
    }
}

NodeTimes::ByName readTimes(const JsonView& view) {
    NodeTimes::ByName times;
    for (const auto& [name, time] : view.members())
        times.emplace(name, positive(time));
    return times;
}

NodeTimes readNodeTimes(const JsonView& view) {
    view.expectKeys({"fingerprint", "rewritten", "before", "after"});
    return {view.at("fingerprint").text(), view.at("rewritten").text(), readTimes(view.at("before")),
            readTimes(view.at("after"))};
}

void readOthers(const JsonView& view, BenchReport& report) {
    if (view.has("native"))
        readOptional(view.at("native"), report.load, report.native, report.nativeReason);
    if (view.has("eager"))
        readOptional(view.at("eager"), report.load, report.eager, report.eagerReason);
    for (const char* change : {"change", "against_native", "against_eager"})
        if (view.has(change)) {
            view.at(change).expectKeys({"output", "prefill"}, {"decode"});
            checkChange(view.at(change));
        }
    for (const auto& [key, value] : {std::pair{"native_check", &report.nativeCheck},
                                     {"profile", &report.profile},
                                     {"memory", &report.memory},
                                     {"products", &report.products}})
        if (view.has(key))
            *value = view.at(key).raw();
    if (view.has("node_ms"))
        report.nodeTimes = readNodeTimes(view.at("node_ms"));
}

BenchReport readReport(const JsonView& view) {
    BenchReport report;
    view.expectKeys({"schema", "model", "machine", "load", "before", "after", "change"},
                    {"patterns", "native", "against_native", "native_check", "eager", "against_eager",
                     "profile", "memory", "products", "node_ms"});
    readModel(view.at("model"), report);
    view.at("machine").members(); // of any worker, perhaps a later one: shown, not interpreted
    report.machine = view.at("machine").raw();
    report.load = readLoad(view.at("load"));
    report.before = readProgram(view.at("before"), report.load);
    report.after = readProgram(view.at("after"), report.load);
    readOthers(view, report);
    if (view.has("patterns"))
        for (const JsonView& effect : view.at("patterns").items())
            report.patterns.push_back(readEffect(effect, report.load));
    return report;
}

} // namespace

Result<BenchReport> benchFromJson(std::string_view text, std::string_view where) {
    const std::string what = "the measurement " + std::string(where);
    auto json = parseJson(text, what);
    if (!json)
        return json.error();
    JsonFault fault(what);
    const JsonView view(*json, "", fault);
    // Before all else: a later schema may have other keys.
    if (json->is_object() && view.has("schema") && view.at("schema").integer() != kBenchSchema)
        view.at("schema").fault("is " + view.at("schema").raw().dump() + ", but this version reads only " +
                                std::to_string(kBenchSchema) + ": open it with the version that wrote it");
    BenchReport report;
    if (!fault.found())
        report = readReport(view);
    if (fault.found())
        return Error{ErrorCode::badInput, fault.error().message, std::string(where)};
    return report;
}

Result<BenchReport> readBench(const std::filesystem::path& file) {
    auto text = readFile(file, kLargestFile);
    if (!text)
        return text.error();
    return benchFromJson(*text, file.string());
}

} // namespace workbench
