#include "app/session/bench_report.h"
#include "core/support/read_file.h"
#include "core/support/strict_json.h"

#include <cmath>

namespace workbench {
namespace {

constexpr std::uint64_t kLargestFile = 64 << 20;
constexpr double kRounding = 1e-6; ///< relative; numbers are written with all of their digits

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
    view.expectKeys({"first_token", "p50", "p90", "p99", "max"});
    return {positive(view.at("first_token")), positive(view.at("p50")), positive(view.at("p90")),
            positive(view.at("p99")), positive(view.at("max"))};
}

BenchProgram readProgram(const JsonView& view) {
    view.expectKeys({"tokens_per_s", "prefill", "decode", "latency_ms", "rounds"});
    BenchProgram program;
    for (const JsonView& round : view.at("rounds").items()) {
        round.expectKeys({"prefill", "decode", "output"});
        program.rounds.push_back(
            {positive(round.at("prefill")), positive(round.at("decode")), positive(round.at("output"))});
    }
    if (program.rounds.empty())
        view.at("rounds").fault("is empty");
    program.latency = readLatency(view.at("latency_ms"));
    checkSpread(view.at("tokens_per_s"), speeds(program, Quantity::output));
    checkPhase(view.at("prefill"), speeds(program, Quantity::prefill));
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

PatternEffect readEffect(const JsonView& view) {
    view.expectKeys({"pattern", "sites", "prefill", "decode", "without"});
    checkComparison(view.at("prefill"));
    checkComparison(view.at("decode"));
    return {view.at("pattern").text(), count(view.at("sites")), readProgram(view.at("without"))};
}

BenchLoad readLoad(const JsonView& view) {
    view.expectKeys({"prompt_tokens", "new_tokens", "rounds", "prompts"});
    return {count(view.at("prompt_tokens")), count(view.at("new_tokens")), count(view.at("rounds")),
            view.at("prompts").texts()};
}

void readModel(const JsonView& view, BenchReport& report) {
    view.expectKeys({"class", "dtype", "random_weights"});
    report.model = view.at("class").text();
    report.dtype = view.at("dtype").text();
    report.randomWeights = view.at("random_weights").boolean();
}

void readChange(const JsonView& view) {
    view.expectKeys({"output", "prefill", "decode"});
    for (const char* quantity : {"output", "prefill", "decode"})
        checkComparison(view.at(quantity));
}

BenchReport readReport(const JsonView& view) {
    BenchReport report;
    view.expectKeys({"schema", "model", "machine", "load", "before", "after", "change"}, {"patterns"});
    readModel(view.at("model"), report);
    view.at("machine").members(); // of any worker, perhaps a later one: shown, not interpreted
    report.machine = view.at("machine").raw();
    report.load = readLoad(view.at("load"));
    report.before = readProgram(view.at("before"));
    report.after = readProgram(view.at("after"));
    readChange(view.at("change"));
    if (view.has("patterns"))
        for (const JsonView& effect : view.at("patterns").items())
            report.patterns.push_back(readEffect(effect));
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
