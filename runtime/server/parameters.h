#pragma once

#include "runtime/server/body_reader.h"
#include "runtime/server/text_backend.h"

#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// What a request asks for, beside its prompt.
struct Wanted {
    TextRequest request; ///< without prompt; maxTokens: what is asked for
    bool hasMaxTokens = false;
    std::vector<std::string> stops;
    std::int64_t choices = 1; ///< for each prompt
    bool stream = false;
    bool streamUsage = false;
};

/// Texts of one HTTP request at most: prompts times choices.
constexpr std::int64_t kMostTexts = 64;

/// Reads what completions and chat completions share; faults go to the reader.
Wanted readWanted(BodyReader& body);
/// The model that is named is the one that is served; a missing name is a fault, another one status 404.
std::optional<ApiError> checkModel(BodyReader& body, const ServedModel& model);

/// Sets prompt and length. An error when they do not fit into the model.
ApiResult<TextRequest> withPrompt(const Wanted& wanted, Tokens prompt, const ServedModel& model,
                                  const char* param);
/// No text of that many bytes can fit: refused before the tokenizer spends its time on it.
std::optional<ApiError> checkTextSize(std::size_t bytes, const ServedModel& model, const char* param);

} // namespace workbench
