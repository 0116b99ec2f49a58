#include "runtime/engine/sampling_params.h"

#include <cmath>
#include <string>

namespace workbench {

Status check(const SamplingParams& params) {
    struct Rule {
        bool holds;
        const char* sentence;
    };
    const auto isFraction = [](double x) { return x >= 0 && x <= 1; };
    // Written so that NaN fails.
    const Rule rules[]{
        {params.temperature >= 0 && std::isfinite(params.temperature), "temperature must be 0 or more"},
        {params.topK >= 0, "top-k must be 0 or more"},
        {isFraction(params.topP), "top-p must be between 0 and 1"},
        {isFraction(params.minP), "min-p must be between 0 and 1"},
        {params.repetitionPenalty > 0 && std::isfinite(params.repetitionPenalty),
         "the repetition penalty must be more than 0"},
        {std::isfinite(params.presencePenalty), "the presence penalty must be a finite number"},
        {std::isfinite(params.frequencyPenalty), "the frequency penalty must be a finite number"},
        {params.logprobs.value_or(0) >= 0, "the number of log-probabilities must be 0 or more"},
    };
    for (const Rule& rule : rules)
        if (!rule.holds)
            return Error{ErrorCode::badInput,
                         std::string("The request cannot be sampled: ") + rule.sentence + ".",
                         {}};
    return Ok{};
}

} // namespace workbench
