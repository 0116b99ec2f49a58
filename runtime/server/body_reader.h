#pragma once

#include "runtime/server/api_error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace workbench {

/// A request's JSON object, read key by key with the range of each. The first fault is kept and names its
/// key; what nobody has read at the end is a fault too, so that no parameter is ignored in silence. Null
/// counts as absent.
class BodyReader {
public:
    /// At most kDeepest levels; no key twice.
    static ApiResult<BodyReader> parse(const std::string& text);
    static constexpr int kDeepest = 64;

    std::optional<std::string> text(const char* key);
    bool boolean(const char* key, bool fallback);
    std::optional<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most);
    double number(const char* key, double fallback, double least, double most);
    /// Strings; one alone counts as a list.
    std::vector<std::string> texts(const char* key, std::size_t mostItems, std::size_t mostBytes);
    std::vector<std::int64_t> integers(const char* key, std::size_t mostItems, std::int64_t least,
                                       std::int64_t most);
    /// Any value; nullptr when absent.
    const nlohmann::json* value(const char* key);
    /// Taken and of no effect: what describes the caller, not the answer.
    void ignore(std::initializer_list<const char*> keys);
    /// A parameter that this server does not have: only with the value that changes nothing.
    void onlyAs(const char* key, const nlohmann::json& neutral, const char* why);

    void fault(std::string key, std::string message, std::string code = {});
    /// The first fault, or a key that nobody has read.
    std::optional<ApiError> finish() const;

private:
    explicit BodyReader(nlohmann::json object) : m_object(std::move(object)) {}

    nlohmann::json m_object;
    std::set<std::string, std::less<>> m_read;
    std::optional<ApiError> m_fault;
};

} // namespace workbench
