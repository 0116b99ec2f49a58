#include "runtime/server/body_reader.h"

#include "core/support/strict_json.h"

#include <algorithm>

namespace workbench {
namespace {

using nlohmann::json;

/// How deep brackets outside of strings nest. Asked before anything is parsed.
int depthOf(const std::string& text) {
    int depth = 0;
    int deepest = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString && c == '\\')
            ++i;
        else if (c == '"')
            inString = !inString;
        else if (!inString && (c == '{' || c == '['))
            deepest = std::max(deepest, ++depth);
        else if (!inString && (c == '}' || c == ']'))
            --depth;
    }
    return deepest;
}

bool holdsInteger(const json& value, std::int64_t least, std::int64_t most) {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
        return false;
    const auto number = value.get<std::int64_t>();
    return number >= least && number <= most;
}

std::string between(std::int64_t least, std::int64_t most) {
    if (most == INT64_MAX)
        return least == INT64_MIN ? "" : " of at least " + std::to_string(least);
    return " from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string plain(double number) {
    std::string text = std::to_string(number);
    text.erase(text.find_last_not_of('0') + 1);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

} // namespace

ApiResult<BodyReader> BodyReader::parse(const std::string& text) {
    if (depthOf(text) > kDeepest)
        return ApiError{400, "The body nests deeper than " + std::to_string(kDeepest) + " levels.", "", ""};
    auto parsed = parseJson(text, "The body");
    if (!parsed)
        return ApiError{400, parsed.error().message, "", ""};
    if (!parsed->is_object())
        return ApiError{400, "The body must be a JSON object.", "", ""};
    return BodyReader(std::move(parsed).value());
}

void BodyReader::fault(std::string key, std::string message, std::string code) {
    if (!m_fault)
        m_fault = badParam(std::move(key), std::move(message), std::move(code));
}

const json* BodyReader::value(const char* key) {
    m_read.insert(key);
    const auto place = m_object.find(key);
    return place == m_object.end() || place->is_null() ? nullptr : &*place;
}

std::optional<std::string> BodyReader::text(const char* key) {
    const json* found = value(key);
    if (!found)
        return {};
    if (found->is_string())
        return found->get<std::string>();
    fault(key, "'" + std::string(key) + "' must be a string.");
    return {};
}

bool BodyReader::boolean(const char* key, bool fallback) {
    const json* found = value(key);
    if (!found)
        return fallback;
    if (found->is_boolean())
        return found->get<bool>();
    fault(key, "'" + std::string(key) + "' must be true or false.");
    return fallback;
}

std::optional<std::int64_t> BodyReader::integer(const char* key, std::int64_t least, std::int64_t most) {
    const json* found = value(key);
    if (!found)
        return {};
    if (holdsInteger(*found, least, most))
        return found->get<std::int64_t>();
    fault(key, "'" + std::string(key) + "' must be an integer" + between(least, most) + ".");
    return {};
}

double BodyReader::number(const char* key, double fallback, double least, double most) {
    const json* found = value(key);
    if (!found)
        return fallback;
    if (found->is_number() && found->get<double>() >= least && found->get<double>() <= most)
        return found->get<double>();
    fault(key,
          "'" + std::string(key) + "' must be a number from " + plain(least) + " to " + plain(most) + ".");
    return fallback;
}

std::vector<std::string> BodyReader::texts(const char* key, std::size_t mostItems, std::size_t mostBytes) {
    const json* found = value(key);
    if (!found)
        return {};
    const json list = found->is_array() ? *found : json::array({*found});
    const bool fine = list.size() <= mostItems && std::ranges::all_of(list, [&](const json& item) {
                          return item.is_string() && !item.get_ref<const std::string&>().empty() &&
                                 item.get_ref<const std::string&>().size() <= mostBytes;
                      });
    if (fine)
        return list.get<std::vector<std::string>>();
    fault(key, "'" + std::string(key) + "' must be a string of 1 to " + std::to_string(mostBytes) +
                   " bytes, or a list of at most " + std::to_string(mostItems) + " of them.");
    return {};
}

std::vector<std::int64_t> BodyReader::integers(const char* key, std::size_t mostItems, std::int64_t least,
                                               std::int64_t most) {
    const json* found = value(key);
    if (!found)
        return {};
    if (found->is_array() && found->size() <= mostItems &&
        std::ranges::all_of(*found, [&](const json& item) { return holdsInteger(item, least, most); }))
        return found->get<std::vector<std::int64_t>>();
    fault(key, "'" + std::string(key) + "' must be a list of at most " + std::to_string(mostItems) +
                   " integers" + between(least, most) + ".");
    return {};
}

void BodyReader::ignore(std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        m_read.insert(key);
}

void BodyReader::onlyAs(const char* key, const json& neutral, const char* why) {
    if (const json* found = value(key); found && *found != neutral)
        fault(key,
              "'" + std::string(key) + "' is not supported" + (*why ? std::string(": ") + why : "") + ".",
              "unsupported_parameter");
}

std::optional<ApiError> BodyReader::finish() const {
    if (m_fault)
        return m_fault;
    for (const auto& [key, value] : m_object.items())
        if (!m_read.contains(key))
            return badParam(key, "'" + key + "' is no parameter of this endpoint.", "unknown_parameter");
    return {};
}

} // namespace workbench
