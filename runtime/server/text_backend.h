#pragma once

#include "runtime/engine/generation_request.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

using Tokens = std::vector<std::int64_t>;

/// What Error::where says while the model is not loaded.
constexpr const char* kUnavailable = "worker";

/// The served model.
struct ServedModel {
    std::string id;           ///< as requests name it
    std::int64_t created = 0; ///< seconds since 1970
    std::int64_t vocabulary = 0;
    std::int64_t longestTokens = 0; ///< of prompt and text together: what context and KV cache hold
    Tokens endTokens;
};

struct TextRequest {
    Tokens prompt;
    SamplingParams sampling;
    std::int64_t maxTokens = 16;
    bool ignoreEos = false;
    Tokens stopIds;
};

struct TextToken {
    Sampled sampled; ///< its gap is unset
    std::string
        text; ///< that the token completes: whole characters, often none; none for one that ends the text
};

struct TextEnd {
    FinishReason reason = FinishReason::stop;
    std::optional<Error> error; ///< of a failed or refused request
    std::string text;           ///< that was incomplete until now
    std::int64_t promptTokens = 0;
    std::int64_t reusedTokens = 0;
    std::int64_t newTokens = 0;
};

/// Called one after the other, from any thread; they must not wait.
struct TextEvents {
    std::function<void(TextToken)> onToken;
    std::function<void(TextEnd)> onEnd; ///< once, last
};

/// A token alone, as log-probabilities name it.
struct TokenPiece {
    std::string text;  ///< UTF-8; bytes that are no whole character as U+FFFD
    std::string bytes; ///< what the token adds to the text, also where that is no whole character
};

/// Of the engine, since its start unless said otherwise.
struct BackendStats {
    std::int64_t running = 0; ///< now
    std::int64_t waiting = 0; ///< now
    std::int64_t finished = 0;
    std::int64_t cancelled = 0;
    std::int64_t failed = 0;
    std::int64_t refused = 0;
    std::int64_t preemptions = 0;
    std::int64_t reusedTokens = 0;
    std::int64_t computedTokens = 0;
    std::int64_t newTokens = 0;
    std::int64_t steps = 0;
    std::int64_t blocks = 0;
    std::int64_t freeBlocks = 0; ///< now
    double stepSeconds = 0;
    double modelSeconds = 0;
};

/// What the server needs of a model and its tokenizer. All functions from any thread.
class TextBackend {
public:
    virtual ~TextBackend() = default;

    virtual const ServedModel& model() const = 0;
    /// With the special tokens that the model's own tokenizer adds.
    virtual Result<Tokens> encode(std::string_view text) = 0;
    /// The model's chat template around `messages`, a list of objects; `variables` are the template's own.
    virtual Result<Tokens> chat(const nlohmann::json& messages, const nlohmann::json& variables) = 0;
    virtual Result<std::string> decode(const Tokens& tokens) = 0;
    virtual Result<std::vector<TokenPiece>> pieces(const Tokens& tokens) = 0;

    using Id = std::uint64_t;
    /// Every request ends with onEnd, refused ones too.
    virtual Id submit(TextRequest request, TextEvents events) = 0;
    /// The request ends with FinishReason::cancelled, unless it has ended before.
    virtual void cancel(Id id) = 0;

    virtual bool ready() const = 0;
    /// Nothing when it cannot be asked at the moment.
    virtual std::optional<BackendStats> stats() = 0;
};

} // namespace workbench
