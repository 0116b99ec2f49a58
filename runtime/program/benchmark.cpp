#include "runtime/program/benchmark.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Spread over the vocabulary, so that experts and embedding rows are not always the same ones.
std::int64_t tokenAt(std::int64_t index, std::int64_t vocabulary) {
    return (index * 7919 + 11) % vocabulary;
}

/// The prompt of a round, the same for every model.
std::vector<std::int64_t> promptOf(const BenchmarkLoad& load, std::int64_t round, std::int64_t vocabulary) {
    if (!load.prompts.empty())
        return load.prompts[static_cast<std::size_t>(std::max<std::int64_t>(0, round)) % load.prompts.size()];
    std::vector<std::int64_t> prompt;
    for (std::int64_t i = 0; i < load.promptTokens; ++i)
        prompt.push_back(tokenAt(i, vocabulary));
    return prompt;
}

/// One run, timed.
Result<double> secondsOf(LanguageModel& model, const TokenBatch& batch, const RunOptions& options) {
    const auto start = Clock::now();
    if (auto done = model.logits(batch, options); !done)
        return done.error();
    return secondsSince(start);
}

TokenBatch promptBatch(std::vector<std::int64_t> prompt) {
    TokenBatch batch{std::move(prompt), {}, {}};
    for (std::size_t i = 0; i < batch.tokens.size(); ++i)
        batch.positions.push_back(static_cast<std::int64_t>(i));
    batch.rows = {batch.positions.back()};
    return batch;
}

Result<BenchmarkSample> measure(LanguageModel& model, const BenchmarkLoad& load, const BenchmarkStep& step,
                                const std::atomic<bool>& cancel, const BenchmarkObserver& observer) {
    const TokenBatch prompt = promptBatch(promptOf(load, step.round, model.vocabulary()));
    const auto length = static_cast<std::int64_t>(prompt.tokens.size());
    auto cache = model.makeCache(length + load.newTokens);
    if (!cache)
        return cache.error();
    const RunOptions options{.cache = &*cache, .cancel = &cancel};
    auto seconds = secondsOf(model, prompt, options);
    if (!seconds)
        return seconds.error();
    BenchmarkSample sample{length, *seconds, {}};
    for (std::int64_t i = length; i < length + load.newTokens; ++i) {
        if (observer.onToken)
            observer.onToken(step, sample);
        seconds = secondsOf(model, {{tokenAt(i, model.vocabulary())}, {i}, {0}}, options);
        if (!seconds)
            return seconds.error();
        sample.tokenSeconds.push_back(*seconds);
    }
    return sample;
}

Spread spreadOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

Speed speedOf(const std::vector<BenchmarkSample>& samples) {
    std::vector<double> prefill;
    std::vector<double> decode;
    for (const BenchmarkSample& sample : samples) {
        prefill.push_back(static_cast<double>(sample.promptTokens) / sample.prefillSeconds);
        decode.push_back(static_cast<double>(sample.tokenSeconds.size()) /
                         std::accumulate(sample.tokenSeconds.begin(), sample.tokenSeconds.end(), 0.0));
    }
    return {spreadOf(std::move(prefill)), spreadOf(std::move(decode))};
}

Status checkModels(const std::vector<LanguageModel*>& models) {
    for (LanguageModel* model : models) {
        auto usable = model->canUseCache();
        if (!usable)
            return usable.error();
        if (!*usable)
            return Error{
                ErrorCode::runtimeFailed,
                "The model cannot decode with a KV cache, so that its speed per token is not measured.",
                {}};
    }
    return Ok{};
}

} // namespace

Result<std::vector<Speed>> benchmark(const std::vector<LanguageModel*>& models, const BenchmarkLoad& load,
                                     const std::atomic<bool>& cancel, const BenchmarkObserver& observer) {
    if (auto fine = checkModels(models); !fine)
        return fine.error();
    std::vector<std::vector<BenchmarkSample>> samples(models.size());
    for (std::int64_t round = -1; round < load.rounds; ++round) {
        for (std::size_t i = 0; i < models.size(); ++i) {
            auto sample = measure(*models[i], load, {i, round}, cancel, observer);
            if (!sample)
                return sample.error();
            if (round < 0)
                continue;
            if (observer.onSample)
                observer.onSample({i, round}, *sample);
            samples[i].push_back(std::move(*sample));
        }
        if (observer.onRound)
            observer.onRound(round + 1);
    }
    std::vector<Speed> speeds;
    for (const auto& of : samples)
        speeds.push_back(speedOf(of));
    return speeds;
}

} // namespace workbench
