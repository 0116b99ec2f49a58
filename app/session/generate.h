#pragma once

#include "app/session/runtime.h"
#include "app/session/session.h"

#include <cstdint>
#include <functional>
#include <string>

namespace workbench {

struct GenerateTextRequest {
    std::string prompt;
    bool chat = false; ///< put the prompt into the model's chat template
    std::int64_t maxTokens = 128;
};

struct GeneratedText {
    std::int64_t promptTokens = 0;
    std::int64_t newTokens = 0;
    double prefillSeconds = 0;
    double decodeSeconds = 0;
    std::int64_t decodedTokens = 0; ///< tokens that decodeSeconds were spent on
};

/// Greedy text of the rewritten program; `onText` gets it piece by piece. Needs a model directory with
/// weights and tokenizer.
Result<GeneratedText> generateText(Session& session, Runtime& runtime, const GenerateTextRequest& request,
                                   const std::function<void(std::string_view)>& onText, const Job& job);

/// An Error unless the worker can drive the model; `what` it "cannot": "generate text".
Status checkRunnable(const TracedModel& model, const char* what);

} // namespace workbench
