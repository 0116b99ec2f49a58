#pragma once

#include "runtime/engine/weight_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

/// The logits of one token, of a vocabulary of 50,000 to 250,000, and what one look through them leaves for
/// all questions after it: the largest of each block, so that a search for the few that count passes over
/// nearly all others.
class LogitBlocks {
public:
    /// `logits` must outlive the questions.
    void lookAt(std::span<const float> logits);

    std::span<const float> logits() const { return m_logits; }
    bool isValid() const { return m_isValid; } ///< no NaN, and a finite maximum; all else needs that
    std::int64_t largestToken() const { return m_token; } ///< the first of equals
    float largest() const { return m_first; }
    float second() const { return m_second; } ///< minus infinity in a vocabulary of one

    /// Calls `take(token, logit)` for the tokens with at least the logit `least`, in their order.
    template <typename Take>
    void forEachFrom(float least, const Take& take) const {
        for (std::size_t block = 0; block < m_most.size(); ++block) {
            if (m_most[block] < least)
                continue;
            const std::size_t end = endOf(block);
            for (std::size_t token = block * kBlockLogits; token < end; ++token)
                if (m_logits[token] >= least)
                    take(static_cast<std::int64_t>(token), m_logits[token]);
        }
    }
    /// No more than the k-th largest logit, and often not much less: the k-th largest of the blocks' largest.
    float boundOfKthLargest(std::size_t k) const;
    /// `k` from 1 to the number of logits; equal ones count one by one.
    float kthLargest(std::size_t k) const;
    /// The sum of e^((logit - largest) / temperature) over the tokens with which that is at least `share`,
    /// with a relative error below 1e-6; `byBlock`, where given, gets those of the blocks.
    double sumOfWeights(double temperature, double share = 0, std::vector<float>* byBlock = nullptr) const;
    /// A logit that a token with `share` of the largest's weight has, and hardly any with less.
    float logitWithShare(double temperature, double share) const;
    std::size_t endOf(std::size_t block) const {
        return std::min((block + 1) * kBlockLogits, m_logits.size());
    }

private:
    void lookThrough(std::size_t begin, std::size_t end);

    std::span<const float> m_logits;
    std::vector<float> m_most; ///< by block
    std::int64_t m_token = -1;
    float m_first = 0;
    float m_second = 0;
    bool m_isValid = false;
};

} // namespace workbench
