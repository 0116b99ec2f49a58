#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <optional>

namespace workbench {

/// How one request's tokens are chosen from the logits. Applied in this order, which is that of transformers'
/// generate(): repetition penalty, presence and frequency penalty, temperature, top-k, top-p, min-p.
struct SamplingParams {
    double temperature = 0; ///< the logits are divided by it; 0: always the largest logit
    std::int64_t topK = 0;  ///< only the k largest logits and their equals; 0: all
    double topP = 1; ///< only the most probable tokens until their sum reaches it, the one that does included
    double minP = 0; ///< only tokens at least this times as probable as the most probable
    /// Logits of tokens in prompt or text so far are divided by it if positive, multiplied if negative
    /// (Keskar et al. 2019, as in transformers' RepetitionPenaltyLogitsProcessor).
    double repetitionPenalty = 1;
    /// Subtracted from the logits of tokens in the text so far, the prompt not counted: presence once,
    /// frequency once for each occurrence (OpenAI's API reference, "Frequency and presence penalties").
    double presencePenalty = 0;
    double frequencyPenalty = 0;
    std::optional<std::uint64_t> seed; ///< the same seed and logits give the same tokens; empty: a random one
    /// How many of the most probable tokens are listed with each chosen one; empty: no log-probabilities.
    std::optional<std::int64_t> logprobs;
};

/// An Error names the parameter that is out of its range.
Status check(const SamplingParams& params);

} // namespace workbench
