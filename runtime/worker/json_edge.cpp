#include "runtime/worker/json_edge.h"

namespace workbench {
namespace {

const char* codeName(ErrorCode code) {
    switch (code) {
    case ErrorCode::requirementFailed:
        return "requirementFailed";
    case ErrorCode::usage:
        return "usage";
    case ErrorCode::badInput:
        return "badInput";
    case ErrorCode::cannotTrace:
        return "cannotTrace";
    case ErrorCode::runtimeFailed:
        return "runtimeFailed";
    case ErrorCode::cancelled:
        return "cancelled";
    }
    __builtin_unreachable();
}

} // namespace

Result<Json> parseJson(std::string_view text) {
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded())
        return Error{ErrorCode::runtimeFailed, "The request is not valid JSON.", {}};
    return value;
}

Json toJson(const Error& error) {
    return {{"code", codeName(error.code)}, {"message", error.message}, {"where", error.where}};
}

} // namespace workbench
