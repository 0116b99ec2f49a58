#include "runtime/engine/logit_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace workbench {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

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
    for (std::size_t i = 0; i < kBlockLogits; i += kLanes)
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

} // namespace

void LogitBlocks::lookAt(std::span<const float> logits) {
    m_logits = logits;
    m_most.resize((logits.size() + kBlockLogits - 1) / kBlockLogits);
    m_token = -1;
    m_first = m_second = kNothing;
    m_isValid = true;
    for (std::size_t block = 0; block < m_most.size(); ++block) {
        const std::size_t begin = block * kBlockLogits;
        if (begin + kBlockLogits > logits.size()) {
            m_most[block] = kNothing;
            for (const float logit : logits.subspan(begin))
                m_most[block] = std::max(m_most[block], logit);
            lookThrough(begin, logits.size());
            continue;
        }
        const BlockLargest found = largestOfBlock(logits.data() + begin);
        m_most[block] = found.logit;
        m_isValid = m_isValid && !found.hasNan;
        if (found.logit > m_second) // most blocks have nothing above the two largest before them
            lookThrough(begin, begin + kBlockLogits);
    }
    m_isValid = m_isValid && std::isfinite(m_first);
}

void LogitBlocks::lookThrough(std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token) {
        const float logit = m_logits[token];
        if (logit > m_first) {
            m_second = m_first;
            m_first = logit;
            m_token = static_cast<std::int64_t>(token);
        } else if (logit > m_second) {
            m_second = logit;
        } else if (std::isnan(logit)) {
            m_isValid = false;
        }
    }
}

float LogitBlocks::boundOfKthLargest(std::size_t k) const {
    if (k > m_most.size())
        return kNothing;
    std::vector<float> most = m_most;
    const auto place = most.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(most.begin(), place, most.end(), std::greater<>());
    return *place;
}

float LogitBlocks::kthLargest(std::size_t k) const {
    std::vector<float> few;
    forEachFrom(boundOfKthLargest(k), [&](std::int64_t, float logit) { few.push_back(logit); });
    const auto place = few.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(few.begin(), place, few.end(), std::greater<>());
    return *place;
}

float LogitBlocks::logitWithShare(double temperature, double share) const {
    const double logit = m_first + temperature * std::log(share);
    return logit < std::numeric_limits<float>::lowest() ? kNothing
                                                        : std::nextafter(static_cast<float>(logit), kNothing);
}

double LogitBlocks::sumOfWeights(double temperature, double share, std::vector<float>* byBlock) const {
    // A colder distribution has no second token either, and its scale would be no float.
    constexpr double kMostScale = 1e30;
    const auto scale = static_cast<float>(std::min(std::numbers::log2e / temperature, kMostScale));
    const float least = share > 0 ? std::max(kLeastPower, static_cast<float>(std::log2(share))) : kLeastPower;
    const float leastLogit = logitWithShare(temperature, share);
    const SumWeights sum = sumWeights().back();
    std::array<float, kBlockLogits> padded;
    double total = 0;
    if (byBlock)
        byBlock->assign(m_most.size(), 0);
    for (std::size_t block = 0; block < m_most.size(); ++block) {
        if (m_most[block] < leastLogit)
            continue;
        const float* logits = m_logits.data() + block * kBlockLogits;
        if (const std::size_t end = endOf(block); end < (block + 1) * kBlockLogits) {
            padded.fill(kNothing);
            std::copy(logits, m_logits.data() + end, padded.begin());
            logits = padded.data();
        }
        const float of = sum(logits, m_first, scale, least);
        total += of;
        if (byBlock)
            (*byBlock)[block] = of;
    }
    return total;
}

} // namespace workbench
