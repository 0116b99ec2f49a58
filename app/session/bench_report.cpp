#include "app/session/bench_report.h"

#include "core/support/atomic_file.h"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

Json spreadJson(const BenchProgram& program, Quantity quantity) {
    const Spread spread = spreadOf(speeds(program, quantity));
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

Json programJson(const BenchProgram& program) {
    Json rounds = Json::array();
    for (const BenchRound& round : program.rounds)
        rounds.push_back({{"prefill", round.prefill}, {"decode", round.decode}, {"output", round.output}});
    const Latency& latency = program.latency;
    return {{"tokens_per_s", spreadJson(program, Quantity::output)},
            {"prefill", {{"tokens_per_s", spreadJson(program, Quantity::prefill)}}},
            {"decode", {{"tokens_per_s", spreadJson(program, Quantity::decode)}}},
            {"latency_ms",
             {{"first_token", latency.firstToken},
              {"p50", latency.p50},
              {"p90", latency.p90},
              {"p99", latency.p99},
              {"max", latency.max}}},
            {"rounds", std::move(rounds)}};
}

Json comparisonJson(const Comparison& comparison) {
    return {{"ratio", comparison.ratio},
            {"low", comparison.interval.low},
            {"high", comparison.interval.high},
            {"verdict", nameOf(comparison.verdict)}};
}

Json effectJson(const PatternEffect& effect, const BenchReport& report) {
    return {{"pattern", effect.pattern},
            {"sites", effect.sites},
            {"prefill", comparisonJson(effectOf(effect, report, Quantity::prefill))},
            {"decode", comparisonJson(effectOf(effect, report, Quantity::decode))},
            {"without", programJson(effect.without)}};
}

} // namespace

std::vector<double> speeds(const BenchProgram& program, Quantity quantity) {
    std::vector<double> values;
    for (const BenchRound& round : program.rounds)
        values.push_back(quantity == Quantity::prefill  ? round.prefill
                         : quantity == Quantity::decode ? round.decode
                                                        : round.output);
    return values;
}

Comparison compare(const BenchProgram& before, const BenchProgram& after, Quantity quantity) {
    return compareSpeeds(speeds(before, quantity), speeds(after, quantity));
}

Comparison effectOf(const PatternEffect& effect, const BenchReport& report, Quantity quantity) {
    return compare(effect.without, report.after, quantity);
}

Json toJson(const BenchReport& report) {
    Json json = {
        {"schema", kBenchSchema},
        {"model",
         {{"class", report.model}, {"dtype", report.dtype}, {"random_weights", report.randomWeights}}},
        {"machine", Json(report.machine)},
        {"load",
         {{"prompt_tokens", report.load.promptTokens},
          {"new_tokens", report.load.newTokens},
          {"rounds", report.load.rounds},
          {"prompts", report.load.prompts}}},
        {"before", programJson(report.before)},
        {"after", programJson(report.after)},
        {"change",
         {{"output", comparisonJson(compare(report.before, report.after, Quantity::output))},
          {"prefill", comparisonJson(compare(report.before, report.after, Quantity::prefill))},
          {"decode", comparisonJson(compare(report.before, report.after, Quantity::decode))}}}};
    for (const PatternEffect& effect : report.patterns)
        if (!effect.without.rounds.empty()) // a measurement that was stopped may not have come so far
            json["patterns"].push_back(effectJson(effect, report));
    return json;
}

Status writeBench(const BenchReport& report, const std::filesystem::path& file) {
    return writeFileAtomically(file,
                               toJson(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace workbench
