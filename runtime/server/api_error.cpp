#include "runtime/server/api_error.h"

#include "runtime/server/text_backend.h"

namespace workbench {
namespace {

const char* typeOf(int status) {
    if (status == 401)
        return "authentication_error";
    if (status == 429)
        return "rate_limit_error";
    return status >= 500 ? "server_error" : "invalid_request_error";
}

nlohmann::json orNull(const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

} // namespace

ApiError badParam(std::string param, std::string message, std::string code) {
    return {400, std::move(message), std::move(param), std::move(code)};
}

ApiError apiError(const Error& error) {
    if (error.where == kQueueIsFull)
        return {429, error.message, "", "queue_full"};
    if (error.where == kUnavailable)
        return {503, error.message, "", "model_unavailable"};
    if (error.code == ErrorCode::badInput)
        return {400, error.message, "", ""};
    return {500, error.message, "", ""};
}

std::string toBody(const ApiError& error) {
    const nlohmann::json body = {{"error",
                                  {{"message", error.message},
                                   {"type", typeOf(error.status)},
                                   {"param", orNull(error.param)},
                                   {"code", orNull(error.code)}}}};
    return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

http::Response toResponse(const ApiError& error) {
    http::Response response{error.status, "application/json", toBody(error), {}};
    if (error.status == 429 || error.status == 503)
        response.headers["Retry-After"] = "1";
    if (error.status == 401)
        response.headers["WWW-Authenticate"] = "Bearer";
    return response;
}

} // namespace workbench
