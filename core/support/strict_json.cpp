#include "core/support/strict_json.h"

#include <algorithm>
#include <set>

namespace workbench {
namespace {

const nlohmann::json kNull;

/// "a.b", "a" for no place yet, and a quoted key where a plain one would not be readable.
std::string child(const std::string& place, std::string_view key) {
    return place.empty() ? std::string(key) : place + "." + std::string(key);
}

bool contains(std::initializer_list<std::string_view> list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
}

/// What nlohmann says without its own error number.
std::string reason(const nlohmann::json::exception& failure) {
    const std::string text = failure.what();
    const std::size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
}

/// Reads a document for keys that occur twice in one object, and makes nothing of it. (A callback of the
/// parser that makes the values would see them too, but that one walks through the whole list around each
/// object at its end.)
class DuplicateKeys : public nlohmann::json_sax<nlohmann::json> {
public:
    bool key(string_t& name) override {
        if (!m_open.back().insert(name).second && m_found.empty())
            m_found = name;
        return true;
    }
    bool start_object(std::size_t) override {
        m_open.emplace_back();
        return true;
    }
    bool end_object() override {
        m_open.pop_back();
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    /// The parse that makes the values says what is wrong.
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }
    const std::string& found() const { return m_found; }

private:
    std::vector<std::set<std::string>> m_open;
    std::string m_found;
};

} // namespace

Result<nlohmann::json> parseJson(std::string_view text, std::string_view what) {
    try {
        DuplicateKeys duplicates;
        if (nlohmann::json::sax_parse(text, &duplicates) && !duplicates.found().empty())
            return Error{ErrorCode::badInput,
                         std::string(what) + " has the key '" + duplicates.found() + "' twice in one object",
                         {}};
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& failure) {
        return Error{ErrorCode::badInput, std::string(what) + " is not JSON: " + reason(failure), {}};
    }
}

void JsonFault::add(const std::string& place, const std::string& fault) {
    if (!m_error)
        m_error =
            Error{ErrorCode::badInput, m_what + ": " + (place.empty() ? "" : place + " ") + fault, place};
}

void JsonView::expectKeys(std::initializer_list<std::string_view> required,
                          std::initializer_list<std::string_view> optional) const {
    if (!m_value->is_object())
        return fault(std::string("is ") + m_value->type_name() + ", not an object");
    for (const auto& [key, value] : m_value->items())
        if (!contains(required, key) && !contains(optional, key))
            m_fault->add(child(m_place, key), "is an unknown key");
    for (const std::string_view key : required)
        if (!m_value->contains(key))
            m_fault->add(child(m_place, key), "is missing");
}

bool JsonView::has(std::string_view key) const {
    return m_value->is_object() && m_value->contains(key);
}

JsonView JsonView::at(std::string_view key) const {
    const std::string place = child(m_place, key);
    if (!has(key)) {
        m_fault->add(place, "is missing");
        return {kNull, place, *m_fault};
    }
    return {(*m_value)[std::string(key)], place, *m_fault};
}

std::vector<JsonView> JsonView::items() const {
    std::vector<JsonView> views;
    if (!m_value->is_array()) {
        fault(std::string("is ") + m_value->type_name() + ", not a list");
        return views;
    }
    for (std::size_t i = 0; i < m_value->size(); ++i)
        views.emplace_back((*m_value)[i], m_place + "[" + std::to_string(i) + "]", *m_fault);
    return views;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
    std::vector<std::pair<std::string, JsonView>> views;
    if (!m_value->is_object()) {
        fault(std::string("is ") + m_value->type_name() + ", not an object");
        return views;
    }
    for (const auto& [key, value] : m_value->items())
        views.emplace_back(key, JsonView(value, child(m_place, key), *m_fault));
    return views;
}

std::string JsonView::text() const {
    if (m_value->is_string())
        return m_value->get<std::string>();
    fault(std::string("is ") + m_value->type_name() + ", not a string");
    return {};
}

std::string JsonView::oneOf(std::initializer_list<std::string_view> allowed) const {
    std::string value = text();
    if (m_value->is_string() && !contains(allowed, value)) {
        std::string list;
        for (const std::string_view word : allowed)
            list += (list.empty() ? "" : ", ") + std::string(word);
        fault("is '" + value + "', not one of " + list);
    }
    return value;
}

std::int64_t JsonView::integer() const {
    const bool fits = m_value->is_number_integer() &&
                      !(m_value->is_number_unsigned() &&
                        m_value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
    if (fits)
        return m_value->get<std::int64_t>();
    fault(std::string("is ") + m_value->type_name() + ", not an integer of 64 bits");
    return 0;
}

double JsonView::number() const {
    if (m_value->is_number())
        return m_value->get<double>();
    fault(std::string("is ") + m_value->type_name() + ", not a number");
    return 0;
}

bool JsonView::boolean() const {
    if (m_value->is_boolean())
        return m_value->get<bool>();
    fault(std::string("is ") + m_value->type_name() + ", not true or false");
    return false;
}

std::vector<std::string> JsonView::texts() const {
    std::vector<std::string> values;
    for (const JsonView& item : items())
        values.push_back(item.text());
    return values;
}

std::vector<std::int64_t> JsonView::integers() const {
    std::vector<std::int64_t> values;
    for (const JsonView& item : items())
        values.push_back(item.integer());
    return values;
}

} // namespace workbench
