#pragma once

#include "core/support/result.h"
#include "runtime/server/http_message.h"

#include <string>

namespace workbench {

/// A refusal in the shape of OpenAI's API: {"error": {"message", "type", "param", "code"}}.
struct ApiError {
    int status = 400;
    std::string message;
    std::string param; ///< "": null
    std::string code;  ///< "": null
};

template <typename T>
using ApiResult = std::variant<T, ApiError>;

/// A parameter that is wrong.
ApiError badParam(std::string param, std::string message, std::string code = {});
/// What the backend says of a request.
ApiError apiError(const Error& error);

std::string toBody(const ApiError& error);
http::Response toResponse(const ApiError& error);

} // namespace workbench
