#pragma once

#include "app/session/runtime.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace workbench {

/// What weights in fewer bits change. With s the logits of the weights as stored and q those of the quantised
/// ones, [rows, vocabulary], and p_s, p_q their softmax over the vocabulary. Logits that a model masks, in s
/// and in q alike (minus infinity, or the least number of bfloat16 or float32), are in none of the sums:
/// their probability is 0 in both.
struct QualityLoss {
    std::int64_t rows = 0;
    double relativeError = 0;     ///< sqrt(sum (q - s)^2 / sum s^2), over all rows and tokens
    double divergence = 0;        ///< mean over rows of sum p_s (ln p_s - ln p_q): Kullback-Leibler, nats
    std::int64_t greedyEqual = 0; ///< rows whose most likely token is the same
    struct Likelihood {
        std::int64_t tokens = 0;
        double stored = 0;    ///< mean of -ln p_s(next token of the text), nats per token
        double quantised = 0; ///< the same with p_q
    };
    std::optional<Likelihood> text;
};

/// `next`: the token that follows each row in a text, where one does; empty when there is no text. An Error
/// for logits of different sizes, or that are infinite or not a number but for masks.
Result<QualityLoss> qualityLoss(const Logits& stored, const Logits& quantised,
                                const std::vector<std::optional<std::int64_t>>& next);

} // namespace workbench
