#include "runtime/program/benchmark.h"

#include <algorithm>
#include <chrono>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

struct Sample {
    double prefill = 0; ///< tokens per second
    double decode = 0;
};

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Spread over the vocabulary, so that experts and embedding rows are not always the same ones.
std::int64_t tokenAt(std::int64_t index, std::int64_t vocabulary) {
    return (index * 7919 + 11) % vocabulary;
}

Result<Sample> measure(LanguageModel& model, const BenchmarkLoad& load, const std::atomic<bool>& cancel) {
    auto cache = model.makeCache(load.promptTokens + load.newTokens);
    if (!cache)
        return cache.error();
    const RunOptions options{.cache = &*cache, .cancel = &cancel};
    TokenBatch prompt;
    for (std::int64_t i = 0; i < load.promptTokens; ++i) {
        prompt.tokens.push_back(tokenAt(i, model.vocabulary()));
        prompt.positions.push_back(i);
    }
    prompt.rows = {load.promptTokens - 1};
    auto start = Clock::now();
    if (auto done = model.logits(prompt, options); !done)
        return done.error();
    Sample sample;
    sample.prefill = static_cast<double>(load.promptTokens) / secondsSince(start);
    start = Clock::now();
    for (std::int64_t i = load.promptTokens; i < load.promptTokens + load.newTokens; ++i)
        if (auto done = model.logits({{tokenAt(i, model.vocabulary())}, {i}, {0}}, options); !done)
            return done.error();
    sample.decode = static_cast<double>(load.newTokens) / secondsSince(start);
    return sample;
}

Spread spreadOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

Speed speedOf(const std::vector<Sample>& samples) {
    std::vector<double> prefill;
    std::vector<double> decode;
    for (const Sample& sample : samples) {
        prefill.push_back(sample.prefill);
        decode.push_back(sample.decode);
    }
    return {spreadOf(std::move(prefill)), spreadOf(std::move(decode))};
}

} // namespace

Result<std::vector<Speed>> benchmark(const std::vector<LanguageModel*>& models, const BenchmarkLoad& load,
                                     const std::atomic<bool>& cancel,
                                     const std::function<void(std::int64_t roundsDone)>& onRound) {
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
    std::vector<std::vector<Sample>> samples(models.size());
    for (std::int64_t round = -1; round < load.rounds; ++round) {
        for (std::size_t i = 0; i < models.size(); ++i) {
            auto sample = measure(*models[i], load, cancel);
            if (!sample)
                return sample.error();
            if (round >= 0)
                samples[i].push_back(*sample);
        }
        onRound(round + 1);
    }
    std::vector<Speed> speeds;
    for (const auto& of : samples)
        speeds.push_back(speedOf(of));
    return speeds;
}

} // namespace workbench
