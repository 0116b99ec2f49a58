#include "app/session/json_fields.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace workbench {

using nlohmann::json;

std::string textOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double numberOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN();
}

std::int64_t integerOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::vector<std::int64_t> integersOf(const json& object, const char* key) {
    std::vector<std::int64_t> values;
    const auto found = object.find(key);
    if (found != object.end() && found->is_array())
        for (const json& value : *found)
            values.push_back(value.is_number_integer() ? value.get<std::int64_t>() : -1);
    return values;
}

} // namespace workbench
