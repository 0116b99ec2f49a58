#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Integer polynomials over named atoms: the canonical form behind SymInt.

namespace workbench {

/// Atoms with their powers, sorted by atom: {{"s27", 2}} is s27**2; empty is 1.
using SymMonomial = std::map<std::string, int>;

/// Coefficients are never 0.
struct SymPolynomial {
    std::map<SymMonomial, std::int64_t> terms;

    static SymPolynomial constant(std::int64_t value);
    static SymPolynomial atom(std::string name);
    /// The value when no atom is left.
    std::optional<std::int64_t> asConstant() const;
    /// Terms by falling degree, then by name, the constant last: "s27**2 + 2*s27 - 1".
    std::string text() const;
};

/// The Domain of SymParser that gives polynomials. Overflow and expressions of unreasonable size are errors.
class PolynomialDomain {
public:
    using Value = SymPolynomial;
    std::string error;

    std::optional<Value> integer(std::int64_t value) const { return SymPolynomial::constant(value); }
    std::optional<Value> symbol(std::string name) const { return SymPolynomial::atom(std::move(name)); }
    std::optional<Value> add(const Value& a, const Value& b);
    std::optional<Value> subtract(const Value& a, const Value& b);
    std::optional<Value> multiply(const Value& a, const Value& b);
    std::optional<Value> floorDivide(const Value& a, const Value& b);
    std::optional<Value> modulo(const Value& a, const Value& b);
    std::optional<Value> power(const Value& a, const Value& b);
    std::optional<Value> call(std::string_view function, const std::vector<Value>& values);

private:
    std::nullopt_t fail(std::string reason);
    std::optional<Value> combine(const Value& a, const Value& b, std::int64_t sign);
};

/// Python's floor division and modulo; nullopt for a zero divisor or overflow.
std::optional<std::int64_t> floorDivide(std::int64_t a, std::int64_t b);
std::optional<std::int64_t> floorModulo(std::int64_t a, std::int64_t b);

} // namespace workbench
