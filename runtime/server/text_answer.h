#pragma once

#include "runtime/server/answer_shape.h"
#include "runtime/server/exchange.h"
#include "runtime/server/metrics.h"
#include "runtime/server/parameters.h"

#include <chrono>

namespace workbench {

/// One generating request on its way: whom to answer, in which shape.
struct TextJob {
    http::Exchange& exchange;
    TextBackend& backend;
    const AnswerShape& shape;
    const Wanted& wanted;
    std::vector<TextRequest> requests; ///< wanted.choices for each prompt, one after the other
    std::chrono::steady_clock::time_point arrival;
    Metrics& metrics;
};

inline constexpr int kClientLeft = 499; ///< for the log; nginx's number

/// Generates and answers, at once or streamed. Returns the status for the log.
int answerText(TextJob job);

} // namespace workbench
