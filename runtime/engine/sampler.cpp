#include "runtime/engine/sampler.h"

#include "runtime/engine/philox.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace workbench {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

struct Largest {
    std::int64_t token = -1; ///< the first of equals
    float first = kNothing;
    float second = kNothing;
    bool isValid = true; ///< no NaN, and a finite maximum
};

/// Looked through at once; most have nothing above the two largest before them.
constexpr std::size_t kBlock = 128;

struct BlockLargest {
    float logit = kNothing;
    bool hasNan = false;
};

/// In lanes, which a compiler makes vectors of: a step of 16 requests looks at a million logits.
BlockLargest largestOfBlock(const float* logits) {
    constexpr std::size_t kLanes = 32;
    std::array<float, kLanes> most;
    std::array<std::int32_t, kLanes> isNan{};
    most.fill(kNothing);
    for (std::size_t i = 0; i < kBlock; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float logit = logits[i + lane];
            most[lane] = logit > most[lane] ? logit : most[lane];
            isNan[lane] |= logit != logit;
        }
    BlockLargest found;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        found.logit = std::max(found.logit, most[lane]);
        found.hasNan = found.hasNan || isNan[lane] != 0;
    }
    return found;
}

void lookThrough(std::span<const float> logits, std::size_t begin, std::size_t end, Largest& found) {
    for (std::size_t token = begin; token < end; ++token) {
        const float logit = logits[token];
        if (logit > found.first) {
            found.second = found.first;
            found.first = logit;
            found.token = static_cast<std::int64_t>(token);
        } else if (logit > found.second) {
            found.second = logit;
        } else if (std::isnan(logit)) {
            found.isValid = false;
        }
    }
}

Largest largestOf(std::span<const float> logits) {
    Largest found;
    const std::size_t whole = logits.size() / kBlock * kBlock;
    for (std::size_t begin = 0; begin < whole; begin += kBlock) {
        const BlockLargest block = largestOfBlock(logits.data() + begin);
        found.isValid = found.isValid && !block.hasNan;
        if (block.logit > found.second)
            lookThrough(logits, begin, begin + kBlock, found);
    }
    lookThrough(logits, whole, logits.size(), found);
    found.isValid = found.isValid && std::isfinite(found.first);
    return found;
}

/// How far the largest logit is ahead; 0 in a vocabulary of one, finite even where all others are ruled out.
double gapOf(const Largest& largest, std::size_t vocabulary) {
    const double gap = static_cast<double>(largest.first) - largest.second;
    return vocabulary == 1 ? 0 : std::min(gap, static_cast<double>(std::numeric_limits<float>::max()));
}

bool hasPenalties(const SamplingParams& params) {
    return params.repetitionPenalty != 1 || params.presencePenalty != 0 || params.frequencyPenalty != 0;
}

void addLogprobs(std::span<const float> logits, float largest, std::int64_t count, Sampled& sampled) {
    double sum = 0;
    for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - largest);
    const double offset = largest + std::log(sum);
    sampled.logprob = logits[static_cast<std::size_t>(sampled.token)] - offset;
    std::vector<std::int64_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::min<std::ptrdiff_t>(count, std::ssize(order));
    std::partial_sort(order.begin(), end, order.end(), [&](std::int64_t a, std::int64_t b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    });
    for (auto token = order.begin(); token != end; ++token)
        sampled.top.push_back({*token, logits[static_cast<std::size_t>(*token)] - offset});
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
    const Largest raw = largestOf(logits);
    const auto adjusted = penalised(logits);
    const Largest largest = adjusted.data() == logits.data() ? raw : largestOf(adjusted);
    if (!raw.isValid || !largest.isValid)
        return Error{ErrorCode::runtimeFailed,
                     "The model's logits are not finite numbers, so that no token can be chosen from them.",
                     {}};
    Sampled sampled{.token = largest.token, .gap = gapOf(raw, logits.size()), .logprob = 0, .top = {}};
    if (m_params.temperature > 0)
        sampled.token = pick(candidates(adjusted, m_params), uniformAt(m_seed, m_count));
    if (m_params.logprobs)
        addLogprobs(logits, raw.first, *m_params.logprobs, sampled);
    ++m_count;
    if (hasPenalties(m_params))
        ++m_uses[sampled.token].text;
    return sampled;
}

} // namespace workbench
