#pragma once

#include "core/support/result.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Recursive descent over integer expressions, in Python's spelling ("2*s27 + 1", "(s27//2)", "Max(1, s27)")
/// and in sympy's constructor spelling ("Mul(Integer(2), Symbol('s27', positive=True, integer=True))"), which
/// torch.export writes.
///
/// A Domain gives meaning: `using Value`, and functions that return std::optional<Value> (nullopt stops the
/// parse, with the domain's own `error` text): integer(int64), symbol(string), add, subtract, multiply,
/// floorDivide, modulo, power (a, b), call(name, values).

namespace workbench {

template <typename Domain>
class SymParser {
public:
    using Value = typename Domain::Value;

    SymParser(std::string_view text, Domain& domain) : m_text(text), m_domain(domain) {}

    Result<Value> parse() {
        std::optional<Value> value = sum();
        skipSpaces();
        if (value && m_position != m_text.size())
            value = fail("unexpected '" + std::string(1, m_text[m_position]) + "'");
        if (value)
            return std::move(*value);
        const std::string& reason = m_error.empty() ? m_domain.error : m_error;
        return Error{ErrorCode::badInput,
                     "the size expression '" + std::string(m_text.substr(0, 200)) +
                         "' cannot be read: " + reason,
                     {}};
    }

private:
    static constexpr int kMaxDepth = 100;

    std::nullopt_t fail(std::string reason) {
        if (m_error.empty())
            m_error = std::move(reason);
        return std::nullopt;
    }

    void skipSpaces() {
        while (m_position < m_text.size() && m_text[m_position] == ' ')
            ++m_position;
    }

    bool accept(std::string_view token) {
        skipSpaces();
        if (m_text.substr(m_position, token.size()) != token)
            return false;
        m_position += token.size();
        return true;
    }

    std::optional<Value> sum() {
        std::optional<Value> left = product();
        while (left) {
            if (accept("+")) {
                std::optional<Value> right = product();
                left = right ? m_domain.add(*left, *right) : std::nullopt;
            } else if (accept("-")) {
                std::optional<Value> right = product();
                left = right ? m_domain.subtract(*left, *right) : std::nullopt;
            } else {
                break;
            }
        }
        return left;
    }

    std::optional<Value> product() {
        std::optional<Value> left = unary();
        while (left) {
            if (accept("//")) {
                std::optional<Value> right = unary();
                left = right ? m_domain.floorDivide(*left, *right) : std::nullopt;
            } else if (accept("%")) {
                std::optional<Value> right = unary();
                left = right ? m_domain.modulo(*left, *right) : std::nullopt;
            } else if (accept("*")) {
                std::optional<Value> right = unary();
                left = right ? m_domain.multiply(*left, *right) : std::nullopt;
            } else {
                break;
            }
        }
        return left;
    }

    std::optional<Value> unary() {
        if (++m_depth > kMaxDepth)
            return fail("it is nested too deeply");
        std::optional<Value> value;
        if (accept("-")) {
            std::optional<Value> zero = m_domain.integer(0);
            std::optional<Value> operand = unary();
            value = zero && operand ? m_domain.subtract(*zero, *operand) : std::nullopt;
        } else {
            value = atom();
            if (value && accept("**")) {
                std::optional<Value> exponent = unary();
                value = exponent ? m_domain.power(*value, *exponent) : std::nullopt;
            }
        }
        --m_depth;
        return value;
    }

    std::optional<Value> atom() {
        skipSpaces();
        if (m_position == m_text.size())
            return fail("it ends too early");
        if (accept("(")) {
            std::optional<Value> inner = sum();
            if (inner && !accept(")"))
                return fail("a ')' is missing");
            return inner;
        }
        const char first = m_text[m_position];
        if (first >= '0' && first <= '9')
            return number();
        const std::string_view word = identifier();
        if (word.empty())
            return fail("unexpected '" + std::string(1, first) + "'");
        if (!accept("("))
            return m_domain.symbol(std::string(word));
        if (word == "Symbol")
            return sympySymbol();
        return call(word);
    }

    std::optional<Value> number() {
        std::int64_t value = 0;
        const char* begin = m_text.data() + m_position;
        const auto [end, status] = std::from_chars(begin, m_text.data() + m_text.size(), value);
        if (status != std::errc())
            return fail("a number is out of range");
        m_position += static_cast<std::size_t>(end - begin);
        if (m_position < m_text.size() && m_text[m_position] == '.')
            return fail("it holds a number that is not an integer");
        return m_domain.integer(value);
    }

    std::string_view identifier() {
        const std::size_t begin = m_position;
        auto isWordCharacter = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        while (m_position < m_text.size() && isWordCharacter(m_text[m_position]))
            ++m_position;
        return m_text.substr(begin, m_position - begin);
    }

    /// After "Symbol(": 's27', assumptions)
    std::optional<Value> sympySymbol() {
        if (!accept("'"))
            return fail("a symbol's name is missing");
        const std::string_view name = identifier();
        const std::size_t close = m_text.find(')', m_position);
        if (name.empty() || !accept("'") || close == std::string_view::npos)
            return fail("a symbol's name is malformed");
        m_position = close + 1;
        return m_domain.symbol(std::string(name));
    }

    std::optional<Value> call(std::string_view function) {
        std::vector<Value> values;
        if (!accept(")")) {
            do {
                std::optional<Value> value = sum();
                if (!value)
                    return std::nullopt;
                values.push_back(std::move(*value));
            } while (accept(","));
            if (!accept(")"))
                return fail("a ')' is missing");
        }
        return apply(function, values);
    }

    std::optional<Value> apply(std::string_view function, std::vector<Value>& values) {
        const std::size_t count = values.size();
        if (function == "Integer" && count == 1)
            return values[0];
        if ((function == "Add" || function == "Mul") && count > 0) {
            std::optional<Value> result = values[0];
            for (std::size_t i = 1; result && i < count; ++i)
                result = function == "Add" ? m_domain.add(*result, values[i])
                                           : m_domain.multiply(*result, values[i]);
            return result;
        }
        if ((function == "Pow" || function == "PowByNatural") && count == 2)
            return m_domain.power(values[0], values[1]);
        // CleanDiv is FloorDiv that torch knows to leave no remainder.
        if ((function == "FloorDiv" || function == "CleanDiv") && count == 2)
            return m_domain.floorDivide(values[0], values[1]);
        if ((function == "Mod" || function == "PythonMod") && count == 2)
            return m_domain.modulo(values[0], values[1]);
        if ((function == "Max" || function == "Min") && count > 0)
            return m_domain.call(function, values);
        return fail("the function '" + std::string(function) + "' is unknown");
    }

    std::string_view m_text;
    Domain& m_domain;
    std::size_t m_position = 0;
    int m_depth = 0;
    std::string m_error;
};

} // namespace workbench
