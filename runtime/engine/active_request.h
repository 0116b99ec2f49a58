#pragma once

#include "runtime/engine/generation_request.h"
#include "runtime/engine/stop_matcher.h"

#include <chrono>
#include <optional>
#include <span>

namespace workbench {

/// A request while the engine works on it: chooses its tokens, finds its end, calls its callbacks.
class ActiveRequest {
public:
    using Clock = std::chrono::steady_clock;

    /// `seed` is used where the request brings none.
    ActiveRequest(GenerationRequest request, std::uint64_t seed, Clock::time_point arrival);

    /// Its first step begins; later ones change nothing.
    void begin(std::int64_t reusedTokens);
    /// Chooses the next token from `logits` [vocabulary] and delivers it. Nothing when the request has ended;
    /// then finish() has been called.
    std::optional<std::int64_t> advance(std::span<const float> logits);
    void finish(FinishReason reason, std::optional<Error> error = {});

    const std::vector<std::int64_t>& prompt() const { return m_request.prompt; }
    const StopConditions& stop() const { return m_request.stop; }
    FinishReason reason() const { return m_completion.reason; } ///< after finish()

private:
    bool isEnd(std::int64_t token) const;
    Result<std::string> textOf(std::int64_t token);
    Result<std::string> restOfText();

    GenerationRequest m_request;
    Sampler m_sampler;
    StopMatcher m_matcher;
    Completion m_completion;
    Clock::time_point m_arrival;
    std::optional<Clock::time_point> m_begin;
    Clock::time_point m_firstToken;
};

} // namespace workbench
