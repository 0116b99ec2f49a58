#pragma once

#include "app/session/session.h"
#include "app/session/worker_backend.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace workbench {

struct GenerateTextRequest {
    std::vector<std::string> prompts; ///< one text each, side by side
    bool chat = false;                ///< put each prompt into the model's chat template
    std::vector<std::string> stops;   ///< a text ends before any of these
    std::int64_t maxTokens = 128;     ///< of each text
};

struct GeneratedTexts {
    std::int64_t promptTokens = 0;
    std::int64_t newTokens = 0;
    double firstTokenSeconds = 0; ///< from the start to the first token of any text
    double seconds = 0;           ///< to the last
};

/// The model behind its tokenizer, loaded. Needs a model directory with weights and tokenizer.
Result<std::unique_ptr<WorkerBackend>> openTextBackend(Session& session, WorkerBackendOptions options,
                                                       const Job& job);

/// Greedy texts; `onText` gets them piece by piece, with the index of the prompt.
Result<GeneratedTexts> generateTexts(TextBackend& backend, const GenerateTextRequest& request,
                                     const std::function<void(std::size_t, std::string_view)>& onText,
                                     const Job& job);

/// An Error unless the worker can drive the model; `what` it "cannot": "generate text".
Status checkRunnable(const TracedModel& model, const char* what);

} // namespace workbench
