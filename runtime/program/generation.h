#pragma once

#include "runtime/program/language_model.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace workbench {

struct GenerateRequest {
    std::vector<std::int64_t> prompt;
    std::int64_t maxTokens = 0;
    std::vector<std::int64_t> eos; ///< tokens that end the text; the one that does is part of the result
    bool ignoreEos = false;
    const std::atomic<bool>* cancel = nullptr;
    std::function<Status(std::int64_t token)> onToken; ///< called with each token as soon as it is chosen
};

struct Generated {
    std::vector<std::int64_t> tokens;
    std::vector<double> gaps; ///< for each token: its logit minus the second's
    double prefillSeconds = 0;
    double decodeSeconds = 0; ///< of all tokens but the first, which the prefill gives
    bool usedCache = true; ///< false: the model cannot decode with a KV cache, every step ran the whole text
};

/// Greedy text of one sequence.
Result<Generated> generate(LanguageModel& model, const GenerateRequest& request);

} // namespace workbench
