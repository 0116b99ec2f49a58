#include "core/graph/sym_int.h"

#include "core/graph/sym_parser.h"
#include "core/graph/sym_polynomial.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>

namespace workbench {
namespace {

bool isPlainSymbol(std::string_view text) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
        return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// The Domain that gives numbers under bindings.
class EvaluationDomain {
public:
    using Value = std::int64_t;
    std::string error;

    explicit EvaluationDomain(const SymbolBindings& bindings) : m_bindings(bindings) {}

    std::optional<Value> integer(Value value) const { return value; }

    std::optional<Value> symbol(const std::string& name) {
        const auto found = m_bindings.find(name);
        if (found == m_bindings.end()) {
            error = "the symbol '" + name + "' has no value";
            return std::nullopt;
        }
        return found->second;
    }

    std::optional<Value> add(Value a, Value b) {
        Value result = 0;
        const bool overflow = __builtin_add_overflow(a, b, &result);
        return checked(!overflow, result);
    }
    std::optional<Value> subtract(Value a, Value b) {
        Value result = 0;
        const bool overflow = __builtin_sub_overflow(a, b, &result);
        return checked(!overflow, result);
    }
    std::optional<Value> multiply(Value a, Value b) {
        Value result = 0;
        const bool overflow = __builtin_mul_overflow(a, b, &result);
        return checked(!overflow, result);
    }
    std::optional<Value> floorDivide(Value a, Value b) { return checked(workbench::floorDivide(a, b)); }
    std::optional<Value> modulo(Value a, Value b) { return checked(floorModulo(a, b)); }

    std::optional<Value> power(Value a, Value b) {
        std::optional<Value> result = checked(b >= 0 && b <= 64, 1);
        for (Value i = 0; result && i < b; ++i)
            result = multiply(*result, a);
        return result;
    }

    std::optional<Value> call(std::string_view function, const std::vector<Value>& values) const {
        return function == "Max" ? *std::max_element(values.begin(), values.end())
                                 : *std::min_element(values.begin(), values.end());
    }

private:
    std::optional<Value> checked(bool ok, Value value) {
        return checked(ok ? std::optional<Value>(value) : std::nullopt);
    }
    std::optional<Value> checked(std::optional<Value> value) {
        if (!value)
            error = "a number is out of range or a divisor is zero";
        return value;
    }

    const SymbolBindings& m_bindings;
};

/// The Domain that only collects names.
class SymbolDomain {
public:
    using Value = std::monostate;
    std::string error;
    std::set<std::string> names;

    std::optional<Value> integer(std::int64_t) const { return Value{}; }
    std::optional<Value> symbol(std::string name) {
        names.insert(std::move(name));
        return Value{};
    }
    std::optional<Value> add(Value, Value) const { return Value{}; }
    std::optional<Value> subtract(Value, Value) const { return Value{}; }
    std::optional<Value> multiply(Value, Value) const { return Value{}; }
    std::optional<Value> floorDivide(Value, Value) const { return Value{}; }
    std::optional<Value> modulo(Value, Value) const { return Value{}; }
    std::optional<Value> power(Value, Value) const { return Value{}; }
    std::optional<Value> call(std::string_view, const std::vector<Value>&) const { return Value{}; }
};

Result<SymPolynomial> polynomial(std::string_view text) {
    PolynomialDomain domain;
    return SymParser<PolynomialDomain>(text, domain).parse();
}

} // namespace

Result<SymInt> SymInt::parse(std::string_view text) {
    SymInt result;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, result.m_value);
    if (status == std::errc() && stop == end)
        return result;
    if (isPlainSymbol(text))
        return symbol(std::string(text));
    Result<SymPolynomial> parsed = polynomial(text);
    if (!parsed)
        return parsed.error();
    if (const std::optional<std::int64_t> constant = parsed->asConstant())
        return SymInt(*constant);
    result.m_value = 0;
    result.m_text = parsed->text();
    return result;
}

SymInt SymInt::symbol(std::string name) {
    SymInt result;
    result.m_text = std::move(name);
    return result;
}

std::int64_t SymInt::constant() const {
    if (!isConstant())
        __builtin_trap();
    return m_value;
}

std::string SymInt::text() const {
    return isConstant() ? std::to_string(m_value) : m_text;
}

Result<std::int64_t> SymInt::evaluate(const SymbolBindings& bindings) const {
    if (isConstant())
        return m_value;
    EvaluationDomain domain(bindings);
    return SymParser<EvaluationDomain>(m_text, domain).parse();
}

std::vector<std::string> SymInt::symbols() const {
    if (isConstant())
        return {};
    SymbolDomain domain;
    const Result<std::monostate> visited = SymParser<SymbolDomain>(m_text, domain).parse();
    assert(visited.ok());
    (void)visited;
    return {domain.names.begin(), domain.names.end()};
}

namespace {

enum class Operation { add, subtract, multiply };

/// Constants that overflow saturate: a size of 2^63 - 1 fails every later check, whereas one that wrapped
/// might pass.
std::int64_t saturated(Operation operation, std::int64_t a, std::int64_t b) {
    const bool negative = operation == Operation::multiply   ? (a < 0) != (b < 0)
                          : operation == Operation::subtract ? b > 0
                                                             : b < 0;
    std::int64_t result = 0;
    const bool overflow = operation == Operation::multiply   ? __builtin_mul_overflow(a, b, &result)
                          : operation == Operation::subtract ? __builtin_sub_overflow(a, b, &result)
                                                             : __builtin_add_overflow(a, b, &result);
    if (!overflow)
        return result;
    return negative ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

/// The result; when canonical form is out of reach (overflow, too many terms), the operation stays spelled
/// out and still evaluates.
SymInt combined(Operation operation, const std::string& a, const std::string& b) {
    PolynomialDomain domain;
    const Result<SymPolynomial> left = polynomial(a);
    const Result<SymPolynomial> right = polynomial(b);
    if (left && right) {
        const std::optional<SymPolynomial> result =
            operation == Operation::multiply   ? domain.multiply(*left, *right)
            : operation == Operation::subtract ? domain.subtract(*left, *right)
                                               : domain.add(*left, *right);
        if (result && result->asConstant())
            return SymInt(*result->asConstant());
        if (result)
            return SymInt::symbol(result->text());
    }
    const char* sign = operation == Operation::multiply   ? "*"
                       : operation == Operation::subtract ? " - "
                                                          : " + ";
    return SymInt::symbol("(" + a + ")" + sign + "(" + b + ")");
}

} // namespace

SymInt operator+(const SymInt& a, const SymInt& b) {
    if (a.isConstant() && b.isConstant())
        return saturated(Operation::add, a.m_value, b.m_value);
    return combined(Operation::add, a.text(), b.text());
}

SymInt operator-(const SymInt& a, const SymInt& b) {
    if (a.isConstant() && b.isConstant())
        return saturated(Operation::subtract, a.m_value, b.m_value);
    return combined(Operation::subtract, a.text(), b.text());
}

SymInt operator*(const SymInt& a, const SymInt& b) {
    if (a.isConstant() && b.isConstant())
        return saturated(Operation::multiply, a.m_value, b.m_value);
    return combined(Operation::multiply, a.text(), b.text());
}

} // namespace workbench
