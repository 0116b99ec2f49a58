#pragma once

#include "core/support/result.h"
#include "runtime/engine/sampler.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// What Error::where says of a request that could be taken later, when the queue is shorter.
constexpr const char* kQueueIsFull = "queue";

/// Turns tokens into text as they come.
class TextStream {
public:
    virtual ~TextStream() = default;
    /// The text that the token completes: whole characters, often none.
    virtual Result<std::string> push(std::int64_t token) = 0;
    /// What is left at the end.
    virtual Result<std::string> finish() = 0;
};

struct StopConditions {
    std::int64_t maxTokens = 16;
    std::vector<std::int64_t> eos; ///< the model's own end tokens
    bool ignoreEos = false;
    std::vector<std::int64_t> stopIds;    ///< end the text whatever ignoreEos says
    std::vector<std::string> stopStrings; ///< need a TextStream; the text ends before them
};

struct GeneratedToken {
    Sampled sampled;
    std::string text; ///< that can be shown now; empty without a TextStream
};

enum class FinishReason {
    stop,   ///< an end token, a stop id or a stop string
    length, ///< maxTokens
    cancelled,
    failed,
};

/// The end of a request.
struct Completion {
    FinishReason reason = FinishReason::stop;
    std::optional<Error> error; ///< of a failed request
    std::string text;           ///< that was held back until now
    std::int64_t promptTokens = 0;
    std::int64_t reusedTokens = 0; ///< of the prompt: not computed, because their blocks were found
    std::int64_t newTokens = 0;
    double queueSeconds = 0;   ///< from arrival to the first step
    double prefillSeconds = 0; ///< from the first step to the first token
    double decodeSeconds = 0;  ///< from the first token to the last
};

/// Callbacks run on the engine's thread, between steps: every request waits for them. They may submit and
/// cancel.
struct GenerationRequest {
    std::vector<std::int64_t> prompt;
    SamplingParams sampling;
    StopConditions stop;
    std::unique_ptr<TextStream> text;
    /// With each token, the one that ends the text included; its text is not part of the text.
    std::function<void(const GeneratedToken&)> onToken;
    std::function<void(const Completion&)> onFinish; ///< once, last
};

} // namespace workbench
