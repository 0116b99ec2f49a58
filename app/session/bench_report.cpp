#include "app/session/bench_report.h"

#include "app/session/product_weights.h"
#include "core/support/atomic_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kLoads{"single", "decode", "prefill", "mixed", "trace"};

bool hasDecode(const BenchProgram& program) {
    return std::any_of(program.rounds.begin(), program.rounds.end(),
                       [](const BenchRound& round) { return round.decode > 0; });
}

Json spreadJson(const BenchProgram& program, Quantity quantity) {
    const Spread spread = spreadOf(speeds(program, quantity));
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

Json latencyJson(const Latency& latency) {
    Json json = {{"first_token", latency.firstToken},
                 {"first_token_p90", latency.firstTokenP90},
                 {"first_token_p99", latency.firstTokenP99}};
    if (std::isfinite(latency.p50))
        json.update({{"p50", latency.p50}, {"p90", latency.p90}, {"p99", latency.p99}, {"max", latency.max}});
    return json;
}

Json programJson(const BenchProgram& program, const BenchLoad& load) {
    const bool decodes = hasDecode(program);
    Json rounds = Json::array();
    for (const BenchRound& round : program.rounds) {
        Json json = {{"prefill", round.prefill}, {"output", round.output}};
        if (decodes)
            json["decode"] = round.decode;
        rounds.push_back(std::move(json));
    }
    Json json = {{"tokens_per_s", spreadJson(program, mainQuantity(load))},
                 {"prefill", {{"tokens_per_s", spreadJson(program, Quantity::prefill)}}}};
    if (decodes)
        json["decode"] = {{"tokens_per_s", spreadJson(program, Quantity::decode)}};
    json["latency_ms"] = latencyJson(program.latency);
    json["rounds"] = std::move(rounds);
    return json;
}

Json comparisonJson(const Comparison& comparison) {
    return {{"ratio", comparison.ratio},
            {"low", comparison.interval.low},
            {"high", comparison.interval.high},
            {"verdict", nameOf(comparison.verdict)}};
}

/// All quantities that both programs have.
Json changeJson(const BenchProgram& before, const BenchProgram& after) {
    Json json = {{"output", comparisonJson(compare(before, after, Quantity::output))},
                 {"prefill", comparisonJson(compare(before, after, Quantity::prefill))}};
    if (hasDecode(before) && hasDecode(after))
        json["decode"] = comparisonJson(compare(before, after, Quantity::decode));
    return json;
}

Json effectJson(const PatternEffect& effect, const BenchReport& report) {
    Json json = {{"pattern", effect.pattern}, {"sites", effect.sites}};
    json.update(changeJson(effect.without, report.after));
    json["without"] = programJson(effect.without, report.load);
    return json;
}

Json loadJson(const BenchLoad& load) {
    Json json = {{"kind", nameOf(load.kind)},    {"prompt_tokens", load.promptTokens},
                 {"new_tokens", load.newTokens}, {"concurrency", load.concurrency},
                 {"rounds", load.rounds},        {"prompts", load.prompts},
                 {"weights", load.weights}};
    for (const TraceRequest& request : load.trace)
        json["trace"].push_back({{"arrival_s", request.arrivalSeconds},
                                 {"prompt_tokens", request.promptTokens},
                                 {"new_tokens", request.newTokens}});
    return json;
}

void addProgram(const char* name, const std::optional<BenchProgram>& program, const std::string& reason,
                const BenchReport& report, Json& json) {
    if (program && !program->rounds.empty()) {
        json[name] = programJson(*program, report.load);
        json[std::string("against_") + name] = changeJson(*program, report.after);
    } else if (!reason.empty()) {
        json[name] = {{"available", false}, {"reason", reason}};
    }
}

void addOthers(const BenchReport& report, Json& json) {
    addProgram("native", report.native, report.nativeReason, report, json);
    addProgram("eager", report.eager, report.eagerReason, report, json);
    for (const auto& [key, value] : {std::pair{"native_check", &report.nativeCheck},
                                     {"profile", &report.profile},
                                     {"memory", &report.memory},
                                     {"products", &report.products}})
        if (!value->is_null())
            json[key] = Json(*value);
    if (report.nodeTimes)
        json["node_ms"] = {{"fingerprint", report.nodeTimes->fingerprint},
                           {"rewritten", report.nodeTimes->rewritten},
                           {"before", report.nodeTimes->before},
                           {"after", report.nodeTimes->after}};
}

} // namespace

std::string_view nameOf(LoadKind kind) {
    return kLoads[static_cast<std::size_t>(kind)];
}

std::optional<LoadKind> loadKindFromName(std::string_view name) {
    const auto place = std::find(kLoads.begin(), kLoads.end(), name);
    return place == kLoads.end() ? std::nullopt
                                 : std::optional(static_cast<LoadKind>(place - kLoads.begin()));
}

BenchLoad loadOf(LoadKind kind) {
    BenchLoad load{.kind = kind};
    if (kind == LoadKind::decode)
        std::tie(load.promptTokens, load.newTokens) = std::pair(8, 128);
    if (kind == LoadKind::prefill)
        std::tie(load.promptTokens, load.newTokens) = std::pair(512, 1);
    if (kind == LoadKind::mixed)
        std::tie(load.promptTokens, load.newTokens, load.concurrency) = std::tuple(64, 64, 16);
    return load;
}

Quantity mainQuantity(const BenchLoad& load) {
    if (load.kind == LoadKind::prefill)
        return Quantity::prefill;
    return load.kind == LoadKind::decode && load.newTokens > 1 ? Quantity::decode : Quantity::output;
}

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

std::string describeWeights(const BenchReport& report) {
    if (report.load.weights == kStoredWeights)
        return {};
    return ", weights in " + report.load.weights + (report.eager ? " (eager: as stored)" : "");
}

std::vector<std::string> describeProducts(const BenchReport& report) {
    std::vector<std::string> sentences;
    if (report.products.is_object())
        for (const auto& [program, products] : report.products.items())
            if (const std::string told = describeProducts(products, report.load.weights); !told.empty())
                sentences.push_back(program + ": " + told);
    return sentences;
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
        {"load", loadJson(report.load)},
        {"before", programJson(report.before, report.load)},
        {"after", programJson(report.after, report.load)},
        {"change", changeJson(report.before, report.after)}};
    addOthers(report, json);
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
