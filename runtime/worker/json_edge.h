#pragma once

#include "core/support/result.h"

#include <nlohmann/json.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

/// The one place where JSON becomes typed values: what is missing or of another type is an Error that names
/// the key, and nothing is converted in silence (2.5 is no integer, true is no number).

namespace workbench {

using Json = nlohmann::json;

Result<Json> parseJson(std::string_view text);

template <typename T>
struct JsonType;
template <>
struct JsonType<std::string> {
    static constexpr const char* kName = "a string";
    static bool holds(const Json& value) { return value.is_string(); }
};
template <>
struct JsonType<bool> {
    static constexpr const char* kName = "true or false";
    static bool holds(const Json& value) { return value.is_boolean(); }
};
template <>
struct JsonType<double> {
    static constexpr const char* kName = "a number";
    static bool holds(const Json& value) { return value.is_number(); }
};
template <>
struct JsonType<std::int64_t> {
    static constexpr const char* kName = "an integer";
    static bool holds(const Json& value) {
        return value.is_number_integer() &&
               (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    }
};
template <>
struct JsonType<Json> {
    static constexpr const char* kName = "an object";
    static bool holds(const Json& value) { return value.is_object(); }
};
template <typename T>
struct JsonType<std::vector<T>> {
    static constexpr const char* kName = "a list";
    static bool holds(const Json& value) {
        if (!value.is_array())
            return false;
        for (const Json& element : value)
            if (!JsonType<T>::holds(element))
                return false;
        return true;
    }
};

inline Error keyError(const char* key, const std::string& problem) {
    return Error{ErrorCode::badInput, "The request's '" + std::string(key) + "' " + problem + ".", key};
}

/// The value of `key`; an Error when it is absent, null or of another type. Json stands for an object.
template <typename T>
Result<T> required(const Json& object, const char* key) {
    const auto place = object.find(key);
    if (place == object.end() || place->is_null())
        return keyError(key, "is missing");
    if (!JsonType<T>::holds(*place))
        return keyError(key, "must be " + std::string(JsonType<T>::kName));
    return place->template get<T>();
}

/// `fallback` when the key is absent or null.
template <typename T>
Result<T> optional(const Json& object, const char* key, T fallback) {
    const auto place = object.find(key);
    if (place == object.end() || place->is_null())
        return fallback;
    return required<T>(object, key);
}

Json toJson(const Error& error);

} // namespace workbench
