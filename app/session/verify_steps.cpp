#include "app/session/verify_steps.h"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

using nlohmann::json;

constexpr std::int64_t kGreedyPrompt = 16;
constexpr std::int64_t kGreedyTokens = 32;
// Two copies of the compared logits are held: 2 x 256 MiB.
constexpr std::int64_t kMostLogits = std::int64_t{64} << 20;

std::vector<std::string> namesOf(const Graph& graph, const std::vector<ValueId>& values) {
    std::vector<std::string> names;
    for (const ValueId value : values)
        names.push_back(graph.value(value).name);
    return names;
}

/// All rows, or as many evenly spaced ones as fit into memory.
std::vector<std::int64_t> rowsToCompare(std::int64_t tokens, std::int64_t vocabulary) {
    const std::int64_t most = std::max<std::int64_t>(1, kMostLogits / std::max<std::int64_t>(1, vocabulary));
    const std::int64_t count = std::min(tokens, most);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < count; ++i)
        rows.push_back(i * tokens / count);
    return rows;
}

double largest(const Logits& logits) {
    double most = 0;
    for (std::size_t i = 0; i < logits.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(logits.data()[i])));
    return most;
}

/// NaN anywhere makes it NaN, which passes no comparison.
double largestDifference(const Logits& a, const Logits& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference =
            std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]));
        if (!(difference <= most))
            most = difference;
        if (std::isnan(most))
            return most;
    }
    return most;
}

/// NaN anywhere makes it NaN, which passes no comparison.
double rootMeanSquare(const Logits& a, const Logits& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double error = static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]);
        sum += error * error;
    }
    return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, a.size())));
}

Error differentSizes() {
    return Error{ErrorCode::runtimeFailed, "the programs give logits of different sizes", {}};
}

struct GreedyText {
    std::vector<std::int64_t> tokens;
    json gaps;
};

Result<GreedyText> greedyText(Runtime& runtime, const char* program, const std::vector<std::int64_t>& prompt,
                              std::int64_t tokens, const Job& job) {
    job.report("generate", program);
    auto answer = runtime.call("generate",
                               {{"program", program},
                                {"prompt", prompt},
                                {"max_tokens", tokens},
                                {"eos", json::array()},
                                {"ignore_eos", true}},
                               job);
    if (!answer)
        return answer.error();
    return GreedyText{integersOf(answer->result, "tokens"), answer->result.value("top2_gap", json::array())};
}

} // namespace

json siteChecks(const TracedModel& model, const Rewritten& rewritten) {
    json checks = json::array();
    for (std::size_t i = 0; i < rewritten.outcomes.size(); ++i) {
        const SiteOutcome& outcome = rewritten.outcomes[i];
        if (outcome.state != SiteOutcome::State::applied)
            continue;
        std::vector<std::string> nodes;
        for (const NodeId node : outcome.replacement)
            for (const ValueId value : rewritten.graph.node(node).outputs)
                nodes.push_back(rewritten.graph.value(value).name);
        checks.push_back({{"id", model.analysis.sites[i].id},
                          {"nodes", nodes},
                          {"outputs", namesOf(model.canonical, outcome.outputs)}});
    }
    return checks;
}

Result<Truth> compareWithF32(Runtime& runtime, const TracedModel& truth, const TokenInput& input,
                             const Job& job) {
    if (auto loaded = runtime.load(kTruth, truth.canonical, runtime.weightsOf(truth), job); !loaded)
        return loaded.error();
    const std::vector<std::int64_t> rows =
        rowsToCompare(static_cast<std::int64_t>(input.tokens.size()), truth.facts.vocabulary);
    auto expected = runLogits(runtime, kTruth, input.tokens, input.positions, rows, job);
    if (!expected)
        return expected.error();
    TruthErrors errors;
    const double scale = largest(*expected);
    for (const auto& [program, error] :
         {std::pair{kOriginal, &errors.original}, {kRewritten, &errors.rewritten}}) {
        auto logits = runLogits(runtime, program, input.tokens, input.positions, rows, job);
        if (!logits)
            return logits.error();
        if (logits->size() != expected->size())
            return differentSizes();
        *error = rootMeanSquare(*logits, *expected) / scale;
    }
    return Truth{errors, std::move(expected).value()};
}

/// The engine's error of the original may be so many times that of whole sequences.
constexpr double kMostEngineError = 1.25;

Result<EngineProof> proveEngine(Runtime& runtime, const TracedModel& model, const VerifyReport& report,
                                const Truth* truth, const TokenInput& input, const Job& job) {
    const std::vector<std::int64_t> rows =
        rowsToCompare(static_cast<std::int64_t>(input.tokens.size()), model.facts.vocabulary);
    auto logits = runLogits(runtime, kRewritten, input.tokens, input.positions, rows, job, LogitsBy::engine);
    if (!logits)
        return logits.error();
    Logits original;
    if (!truth) {
        auto run = runLogits(runtime, kOriginal, input.tokens, input.positions, rows, job);
        if (!run)
            return run.error();
        original = std::move(run).value();
    }
    const Logits& expected = truth ? truth->logits : original;
    if (logits->size() != expected.size())
        return differentSizes();
    EngineProof proof;
    proof.relativeError = (truth ? rootMeanSquare(*logits, expected) : largestDifference(*logits, expected)) /
                          largest(expected);
    proof.tolerance = truth ? report.endToEnd.tolerance : toleranceOf(report.dtype);
    proof.passed = proof.relativeError <= proof.tolerance; // false for NaN
    if (proof.passed || !truth)
        return proof;
    // In chunks, sums are rounded in another order, for the original too: the rewrite answers for what it
    // adds to that.
    auto chunked = runLogits(runtime, kOriginal, input.tokens, input.positions, rows, job, LogitsBy::engine);
    if (!chunked)
        return chunked.error();
    const double own = rootMeanSquare(*chunked, expected) / largest(expected);
    const double ratio = report.endToEnd.tolerance / truth->errors.original;
    if (own <= kMostEngineError * truth->errors.original) // an engine that is wrong excuses nothing
        proof.tolerance = std::max(proof.tolerance, ratio * own);
    proof.passed = proof.relativeError <= proof.tolerance;
    return proof;
}

std::vector<std::optional<std::int64_t>> nextTokens(const TokenInput& input,
                                                    const std::vector<std::int64_t>& rows) {
    std::vector<std::optional<std::int64_t>> next;
    for (const std::int64_t row : rows) {
        const auto after = static_cast<std::size_t>(row) + 1;
        const bool follows = after < input.tokens.size() && input.positions[after] > 0;
        next.push_back(follows ? std::optional(input.tokens[after]) : std::nullopt);
    }
    return next;
}

Result<QualityLoss> lossOfQuantising(Runtime& runtime, const TracedModel& model, const TokenInput& input,
                                     bool isText, const Job& job) {
    json weights = runtime.weightsOf(model);
    weights["format"] = kStoredWeights;
    if (auto loaded = runtime.load(kTruth, model.canonical, std::move(weights), job); !loaded)
        return loaded.error();
    const std::vector<std::int64_t> rows =
        rowsToCompare(static_cast<std::int64_t>(input.tokens.size()), model.facts.vocabulary);
    auto stored = runLogits(runtime, kTruth, input.tokens, input.positions, rows, job);
    if (!stored)
        return stored.error();
    auto quantised = runLogits(runtime, kOriginal, input.tokens, input.positions, rows, job);
    if (!quantised)
        return quantised.error();
    return qualityLoss(*stored, *quantised,
                       isText ? nextTokens(input, rows) : std::vector<std::optional<std::int64_t>>{});
}

Result<GreedyComparison> compareGreedy(Runtime& runtime, const TokenInput& input, std::int64_t contextLength,
                                       double closeness, const Job& job) {
    std::int64_t length = std::min(kGreedyPrompt, input.lengths.front()), tokens = kGreedyTokens;
    if (contextLength > 0) { // learned positions end there
        length = std::min(length, (contextLength + 1) / 2);
        tokens = std::min(tokens, contextLength - length);
    }
    if (tokens == 0)
        return GreedyComparison{};
    const std::vector<std::int64_t> prompt(input.tokens.begin(), input.tokens.begin() + length);
    auto original = greedyText(runtime, kOriginal, prompt, tokens, job);
    if (!original)
        return original.error();
    auto rewritten = greedyText(runtime, kRewritten, prompt, tokens, job);
    if (!rewritten)
        return rewritten.error();
    GreedyComparison comparison;
    const auto [a, b] = std::mismatch(original->tokens.begin(), original->tokens.end(),
                                      rewritten->tokens.begin(), rewritten->tokens.end());
    const auto equal = static_cast<std::size_t>(a - original->tokens.begin());
    comparison.tokens = static_cast<std::int64_t>(equal);
    if (a == original->tokens.end() && b == rewritten->tokens.end())
        return comparison;
    comparison.tokens += 1;
    comparison.differences = 1;
    const json gap = equal < original->gaps.size() ? original->gaps[equal] : json();
    comparison.excused = gap.is_number() && gap.get<double>() <= closeness ? 1 : 0;
    return comparison;
}

} // namespace workbench
