#include "runtime/worker/json_edge.h"

#include "core/support/error_code_names.h"

namespace workbench {

Result<Json> parseJson(std::string_view text) {
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded())
        return Error{ErrorCode::runtimeFailed, "The request is not valid JSON.", {}};
    return value;
}

Json toJson(const Error& error) {
    std::string_view code;
    for (const auto& [known, name] : kErrorCodeNames)
        if (known == error.code)
            code = name;
    return {{"code", code}, {"message", error.message}, {"where", error.where}};
}

} // namespace workbench
