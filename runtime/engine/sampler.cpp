#include "runtime/engine/sampler.h"

#include "runtime/engine/philox.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace workbench {
namespace {

/// How far the largest logit is ahead; 0 in a vocabulary of one, finite even where all others are ruled out.
double gapOf(const LogitBlocks& logits) {
    const double gap = static_cast<double>(logits.largest()) - logits.second();
    return logits.logits().size() == 1
               ? 0
               : std::min(gap, static_cast<double>(std::numeric_limits<float>::max()));
}

bool hasPenalties(const SamplingParams& params) {
    return params.repetitionPenalty != 1 || params.presencePenalty != 0 || params.frequencyPenalty != 0;
}

void addLogprobs(const LogitBlocks& logits, std::int64_t count, Sampled& sampled) {
    const double offset = logits.largest() + std::log(logits.sumOfWeights(1));
    sampled.logprob = logits.logits()[static_cast<std::size_t>(sampled.token)] - offset;
    const auto wanted = std::min(count, std::ssize(logits.logits()));
    if (wanted <= 0)
        return;
    logits.forEachFrom(logits.kthLargest(static_cast<std::size_t>(wanted)),
                       [&](std::int64_t token, float logit) {
                           sampled.top.push_back({token, logit - offset});
                       });
    std::ranges::stable_sort(sampled.top, std::greater(), &TokenLogprob::logprob); // equals by their tokens
    sampled.top.resize(static_cast<std::size_t>(wanted));
}

} // namespace

Sampler::Sampler(SamplingParams params, std::span<const std::int64_t> prompt, std::uint64_t seed)
    : m_params(params), m_seed(params.seed.value_or(seed)) {
    if (hasPenalties(m_params))
        for (const std::int64_t token : prompt)
            m_uses[token].prompt = true;
}

std::span<const float> Sampler::penalised(std::span<const float> logits) {
    if (!hasPenalties(m_params))
        return logits;
    m_work.assign(logits.begin(), logits.end());
    for (const auto& [token, uses] : m_uses) {
        if (token < 0 || token >= std::ssize(m_work))
            continue;
        float& logit = m_work[static_cast<std::size_t>(token)];
        double value = logit;
        value = value < 0 ? value * m_params.repetitionPenalty : value / m_params.repetitionPenalty;
        if (uses.text > 0)
            value -= m_params.presencePenalty + static_cast<double>(uses.text) * m_params.frequencyPenalty;
        logit = static_cast<float>(value);
    }
    return m_work;
}

Result<Sampled> Sampler::sample(std::span<const float> logits) {
    m_model.lookAt(logits);
    const auto adjusted = penalised(logits);
    if (hasPenalties(m_params))
        m_adjusted.lookAt(adjusted);
    const LogitBlocks& allowed = hasPenalties(m_params) ? m_adjusted : m_model;
    if (!m_model.isValid() || !allowed.isValid())
        return Error{ErrorCode::runtimeFailed,
                     "The model's logits are not finite numbers, so that no token can be chosen from them.",
                     {}};
    Sampled sampled{.token = allowed.largestToken(), .gap = gapOf(m_model), .logprob = 0, .top = {}};
    if (m_params.temperature > 0)
        sampled.token = draw(allowed, m_params, uniformAt(m_seed, m_count));
    if (m_params.logprobs)
        addLogprobs(m_model, *m_params.logprobs, sampled);
    ++m_count;
    if (hasPenalties(m_params))
        ++m_uses[sampled.token].text;
    return sampled;
}

} // namespace workbench
