#pragma once

#include "core/support/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading JSON that others wrote: every key, type and value is checked, and the first fault is one sentence
/// with its place.

namespace workbench {

/// Parses JSON and refuses a key that occurs twice. `what` begins the error: "the plan a.json" -> "the plan
/// a.json is not JSON: ...".
Result<nlohmann::json> parseJson(std::string_view text, std::string_view what);

/// The first fault found while a document is read; later ones are consequences of it and are dropped.
class JsonFault {
public:
    explicit JsonFault(std::string what) : m_what(std::move(what)) {}
    void add(const std::string& place, const std::string& fault);
    bool found() const { return m_error.has_value(); }
    const Error& error() const { return *m_error; }

private:
    std::string m_what;
    std::optional<Error> m_error;
};

/// A value with its place ("sites[3].facts"). Getters return an empty value after noting a fault, so that
/// reading code stays straight; the caller looks at JsonFault once at the end.
class JsonView {
public:
    /// `value` and `fault` outlive the view.
    JsonView(const nlohmann::json& value, std::string place, JsonFault& fault)
        : m_value(&value), m_place(std::move(place)), m_fault(&fault) {}

    /// An object with all required keys and none that is not listed.
    void expectKeys(std::initializer_list<std::string_view> required,
                    std::initializer_list<std::string_view> optional = {}) const;
    bool has(std::string_view key) const;
    JsonView at(std::string_view key) const;                       ///< a fault when missing
    std::vector<JsonView> items() const;                           ///< of a list
    std::vector<std::pair<std::string, JsonView>> members() const; ///< of an object

    std::string text() const;
    std::string oneOf(std::initializer_list<std::string_view> allowed) const;
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;
    std::vector<std::string> texts() const;
    std::vector<std::int64_t> integers() const;

    const nlohmann::json& raw() const { return *m_value; }
    const std::string& place() const { return m_place; }
    void fault(const std::string& what) const { m_fault->add(m_place, what); }

private:
    const nlohmann::json* m_value;
    std::string m_place;
    JsonFault* m_fault;
};

} // namespace workbench
