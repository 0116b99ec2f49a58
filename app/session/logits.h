#pragma once

#include "app/session/runtime.h"
#include "app/session/token_input.h"

#include <filesystem>

namespace workbench {

/// Writes the logits of both programs, `original` and `rewritten` [tokens, vocabulary] f32, as one
/// safetensors file; atomically.
Status dumpLogits(Runtime& runtime, const TokenInput& input, const std::filesystem::path& file,
                  const Job& job);

} // namespace workbench
