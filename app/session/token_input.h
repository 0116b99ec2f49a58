#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace workbench {

/// Packed sequences: positions restart at 0 where a sequence begins.
struct TokenInput {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> positions;
    std::vector<std::int64_t> lengths;

    void add(const std::vector<std::int64_t>& sequence);
};

/// "5,17,3" is one sequence; anything else is a file with a sequence a line, ids separated by commas or
/// blanks. Ids must be below `vocabulary`. Errors: badInput for files and ids.
Result<TokenInput> readTokens(const std::string& text, std::int64_t vocabulary);

/// A sequence that is longer than the model's context is badInput; a context of 0 is not known and allows
/// all.
Status checkContext(const TokenInput& input, std::int64_t contextLength);

/// Two sequences of random ids (always the same ones), each longer than the window and at least `shortest`,
/// within the context. badInput: no vocabulary, or a window beyond all that can be run by default.
Result<TokenInput> defaultTokens(std::int64_t window, std::int64_t vocabulary, std::int64_t contextLength,
                                 std::int64_t shortest);

} // namespace workbench
