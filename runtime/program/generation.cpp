#include "runtime/program/generation.h"

#include "runtime/program/comparison.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One sequence that grows: with a cache each step runs the new tokens only, without one the whole sequence.
class Sequence {
public:
    Sequence(LanguageModel& model, std::optional<KvCache> cache, const std::atomic<bool>* cancel)
        : m_model(model), m_cache(std::move(cache)), m_cancel(cancel) {}

    /// Appends tokens and chooses the next one.
    Result<Choice> extend(const std::vector<std::int64_t>& tokens) {
        if (m_cache)
            m_batch = {};
        for (const std::int64_t token : tokens) {
            m_batch.tokens.push_back(token);
            m_batch.positions.push_back(m_length++);
        }
        m_batch.rows = {static_cast<std::int64_t>(m_batch.tokens.size()) - 1};
        auto logits = m_model.logits(m_batch, {.cache = m_cache ? &*m_cache : nullptr, .cancel = m_cancel});
        if (!logits)
            return logits.error();
        auto choices = greedyChoices(*logits);
        if (!choices)
            return choices.error();
        return choices->front();
    }

private:
    LanguageModel& m_model;
    std::optional<KvCache> m_cache;
    const std::atomic<bool>* m_cancel;
    TokenBatch m_batch;
    std::int64_t m_length = 0;
};

Status accept(const GenerateRequest& request, const Choice& choice, Generated& generated) {
    generated.tokens.push_back(choice.token);
    generated.gaps.push_back(choice.gap);
    return request.onToken ? request.onToken(choice.token) : Status(Ok{});
}

bool isFinished(const GenerateRequest& request, const Generated& generated) {
    if (static_cast<std::int64_t>(generated.tokens.size()) >= request.maxTokens)
        return true;
    return !request.ignoreEos &&
           std::find(request.eos.begin(), request.eos.end(), generated.tokens.back()) != request.eos.end();
}

} // namespace

Result<Generated> generate(LanguageModel& model, const GenerateRequest& request) {
    Generated generated;
    if (request.maxTokens <= 0)
        return generated;
    auto cacheable = model.canUseCache();
    if (!cacheable)
        return cacheable.error();
    generated.usedCache =
        *cacheable && model.program().placement().direct; // else an engine's, which is paged
    std::optional<KvCache> cache;
    if (generated.usedCache) {
        auto made = model.makeCache(static_cast<std::int64_t>(request.prompt.size()) + request.maxTokens);
        if (!made)
            return made.error();
        cache = std::move(*made);
    }
    Sequence sequence(model, std::move(cache), request.cancel);
    auto start = Clock::now();
    auto choice = sequence.extend(request.prompt);
    generated.prefillSeconds = secondsSince(start);
    start = Clock::now();
    while (choice) {
        if (auto accepted = accept(request, *choice, generated); !accepted)
            return accepted.error();
        if (isFinished(request, generated))
            break;
        choice = sequence.extend({choice->token});
    }
    if (!choice)
        return choice.error();
    generated.decodeSeconds = secondsSince(start);
    return generated;
}

} // namespace workbench
