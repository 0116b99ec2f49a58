#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

/// Small readers of the shapes that JSON has in torch.export's schema. Type errors throw nlohmann's
/// exceptions.

namespace workbench::pt2 {

using Json = nlohmann::json;

/// The one member of a union: {"as_tensor": {...}}.
inline std::pair<const std::string&, const Json&> unionMember(const Json& value) {
    const auto& object = value.get_ref<const Json::object_t&>();
    if (object.size() != 1)
        throw Json::other_error::create(501, "an argument has not exactly one kind", &value);
    return {object.begin()->first, object.begin()->second};
}

inline bool isWord(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

inline const std::string& nameIn(const Json& tensor) {
    return tensor.at("name").get_ref<const std::string&>();
}

/// torch writes floats that JSON has no number for as text.
inline double floatFrom(const Json& value) {
    if (!value.is_string())
        return value.get<double>();
    const std::string& text = value.get_ref<const std::string&>();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "Infinity" || text == "-Infinity")
        return text[0] == '-' ? -kInfinity : kInfinity;
    if (text != "NaN")
        throw Json::other_error::create(502, "a float is the text '" + text.substr(0, 40) + "'", &value);
    return std::numeric_limits<double>::quiet_NaN();
}

} // namespace workbench::pt2
