#pragma once

#include "core/support/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace workbench::native {

/// Rotary embedding of whole heads. Frequencies are theta^(-2i / width), changed by the scaling.
struct RotaryConfig {
    enum class Scaling { none, linear, llama3 };
    double theta = 10000;
    Scaling scaling = Scaling::none;
    double factor = 1;
    double lowFrequencyFactor = 1; ///< the following for llama3 alone
    double highFrequencyFactor = 4;
    double originalTokens = 0; ///< context that the model was trained with before
};

/// The sizes of a decoder of the Llama and Qwen3 kind: RMSNorm before attention and feed-forward, grouped
/// queries, rotary embedding, gated SiLU, no biases.
struct DecoderConfig {
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t intermediate = 0;
    std::int64_t queryHeads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headWidth = 0;
    std::int64_t vocabulary = 0;
    double normEps = 1e-6;
    bool headNorms = false; ///< RMSNorm over each query and key head before the rotation
    RotaryConfig rotary;

    std::int64_t queryWidth() const { return queryHeads * headWidth; }
    std::int64_t kvWidth() const { return kvHeads * headWidth; }
    std::int64_t mergedWidth() const { return queryWidth() + 2 * kvWidth(); }
};

/// Reads a Hugging Face config.json. The Error of a model that this decoder does not compute, or that states
/// anything it would have to ignore, says what.
Result<DecoderConfig> decoderConfig(const nlohmann::json& config);

} // namespace workbench::native
