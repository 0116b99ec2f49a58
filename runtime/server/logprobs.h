#pragma once

#include "runtime/server/text_backend.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace workbench {

/// A chosen token and its alternatives by their texts, as both endpoints write them in their own way.
struct NamedToken {
    TokenPiece piece;
    double logprob = 0;
    std::vector<std::pair<TokenPiece, double>> top; ///< the most probable first
};

Result<NamedToken> nameToken(TextBackend& backend, const Sampled& sampled);

/// {"content": [{"token", "logprob", "bytes", "top_logprobs"}]} of chat completions.
nlohmann::json chatLogprobs(const std::vector<NamedToken>& tokens);
/// {"tokens", "token_logprobs", "top_logprobs", "text_offset"} of completions. `offset`: characters of the
/// text before these tokens; moved on.
nlohmann::json completionLogprobs(const std::vector<NamedToken>& tokens, std::int64_t& offset);

/// Characters (code points) of a valid UTF-8 text.
std::int64_t charactersOf(std::string_view text);

} // namespace workbench
