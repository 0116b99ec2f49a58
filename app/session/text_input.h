#pragma once

#include "app/session/session.h"
#include "app/session/token_input.h"

#include <filesystem>

namespace workbench {

/// The first 2,048 tokens of a text file, in sequences of at most 512, or of the model's context where that
/// is shorter (0: not known). badInput: no file, no text, or a model without a tokenizer.
Result<TokenInput> tokensOfText(const Session& session, const std::filesystem::path& file,
                                std::int64_t contextLength, const Job& job);

} // namespace workbench
