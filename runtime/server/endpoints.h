#pragma once

#include "runtime/server/parameters.h"

#include <string>
#include <vector>

namespace workbench {

/// A request body that was understood.
struct TextPlan {
    Wanted wanted;
    std::vector<TextRequest> requests;
    std::vector<std::string> prefixes; ///< by request: completions with "echo"
};

/// POST /v1/completions: "prompt" is a text, a list of texts, token ids or lists of token ids.
ApiResult<TextPlan> readCompletion(const std::string& body, TextBackend& backend);
/// POST /v1/chat/completions: "messages" go through the model's own chat template.
ApiResult<TextPlan> readChat(const std::string& body, TextBackend& backend);

} // namespace workbench
