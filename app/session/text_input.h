#pragma once

#include "app/session/session.h"
#include "app/session/token_input.h"

#include <filesystem>

namespace workbench {

/// A text's tokens in sequences of at most 512, or of the model's context where that is shorter (0: not
/// known), 2,048 in all. `special`: how many tokens a text begins with that are none of its own, such as one
/// for its beginning: each sequence begins with them.
TokenInput sequencesOf(const std::vector<std::int64_t>& tokens, std::int64_t special,
                       std::int64_t contextLength);

/// The first tokens of a text file as sequencesOf() has them. badInput: no file, no text, or a model without
/// a tokenizer.
Result<TokenInput> tokensOfText(const Session& session, const std::filesystem::path& file,
                                std::int64_t contextLength, const Job& job);

} // namespace workbench
