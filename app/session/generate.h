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

struct Spread {
    double median = 0;
    double min = 0;
    double max = 0;
};
struct ProgramSpeed {
    Spread prefill; ///< tokens per second
    Spread decode;
};
struct BenchRequest {
    std::int64_t promptTokens = 64;
    std::int64_t newTokens = 32;
    std::int64_t rounds = 3;
};
struct BenchReport {
    ProgramSpeed original;
    ProgramSpeed rewritten;
    nlohmann::json worker; ///< its hello: threads, instruction set
};

/// Speed of both programs, measured in turn (ABAB). Without weights: on random ones of the full size.
Result<BenchReport> benchSession(Session& session, Runtime& runtime, const BenchRequest& request,
                                 const Job& job);

} // namespace workbench
