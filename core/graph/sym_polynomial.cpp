#include "core/graph/sym_polynomial.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace workbench {
namespace {

constexpr std::size_t kMaxTerms = 1000;
constexpr std::int64_t kMaxPower = 32;

int degree(const SymMonomial& monomial) {
    int sum = 0;
    for (const auto& [atom, power] : monomial)
        sum += power;
    return sum;
}

/// An atom that is a call or a plain word needs no parentheses; "s27//2" does.
bool needsParentheses(std::string_view atom) {
    int depth = 0;
    for (char c : atom) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth == 0 && (c == '/' || c == '%' || c == ' ' || c == '*' || c == '-'))
            return true;
    }
    return false;
}

std::string parenthesised(std::string_view text) {
    return needsParentheses(text) ? "(" + std::string(text) + ")" : std::string(text);
}

std::string monomialText(const SymMonomial& monomial) {
    std::string text;
    for (const auto& [atom, power] : monomial) {
        if (!text.empty())
            text += '*';
        text += parenthesised(atom);
        if (power != 1)
            text += "**" + std::to_string(power);
    }
    return text;
}

std::string magnitude(std::int64_t value) {
    return std::to_string(value < 0 ? -value : value);
}

/// The smallest integer has no magnitude, so its text could not be read back.
bool hasMagnitude(std::int64_t value) {
    return value != std::numeric_limits<std::int64_t>::min();
}

} // namespace

std::optional<std::int64_t> floorDivide(std::int64_t a, std::int64_t b) {
    if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1))
        return std::nullopt;
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<std::int64_t> floorModulo(std::int64_t a, std::int64_t b) {
    const std::optional<std::int64_t> quotient = floorDivide(a, b);
    if (!quotient)
        return std::nullopt;
    return a - *quotient * b;
}

SymPolynomial SymPolynomial::constant(std::int64_t value) {
    SymPolynomial result;
    if (value != 0)
        result.terms[{}] = value;
    return result;
}

SymPolynomial SymPolynomial::atom(std::string name) {
    SymPolynomial result;
    result.terms[{{std::move(name), 1}}] = 1;
    return result;
}

std::optional<std::int64_t> SymPolynomial::asConstant() const {
    if (terms.empty())
        return 0;
    if (terms.size() == 1 && terms.begin()->first.empty())
        return terms.begin()->second;
    return std::nullopt;
}

std::string SymPolynomial::text() const {
    if (terms.empty())
        return "0";
    // A lone "s27//2" is its own text; inside sums and products it is parenthesised.
    if (terms.size() == 1 && terms.begin()->second == 1) {
        const SymMonomial& only = terms.begin()->first;
        if (only.size() == 1 && only.begin()->second == 1)
            return only.begin()->first;
    }
    std::vector<const std::pair<const SymMonomial, std::int64_t>*> sorted;
    for (const auto& term : terms)
        sorted.push_back(&term);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return degree(a->first) > degree(b->first); });
    std::string text;
    for (const auto* term : sorted) {
        const auto& [monomial, coefficient] = *term;
        if (text.empty())
            text += coefficient < 0 ? "-" : "";
        else
            text += coefficient < 0 ? " - " : " + ";
        const bool isUnit = coefficient == 1 || coefficient == -1;
        if (monomial.empty())
            text += magnitude(coefficient);
        else
            text += (isUnit ? "" : magnitude(coefficient) + "*") + monomialText(monomial);
    }
    return text;
}

std::nullopt_t PolynomialDomain::fail(std::string reason) {
    error = std::move(reason);
    return std::nullopt;
}

std::optional<SymPolynomial> PolynomialDomain::combine(const Value& a, const Value& b, std::int64_t sign) {
    Value result = a;
    for (const auto& [monomial, coefficient] : b.terms) {
        std::int64_t scaled = 0;
        std::int64_t& sum = result.terms[monomial];
        if (__builtin_mul_overflow(coefficient, sign, &scaled) || __builtin_add_overflow(sum, scaled, &sum) ||
            !hasMagnitude(sum))
            return fail("a number is out of range");
        if (sum == 0)
            result.terms.erase(monomial);
    }
    if (result.terms.size() > kMaxTerms)
        return fail("it has too many terms");
    return result;
}

std::optional<SymPolynomial> PolynomialDomain::add(const Value& a, const Value& b) {
    return combine(a, b, 1);
}
std::optional<SymPolynomial> PolynomialDomain::subtract(const Value& a, const Value& b) {
    return combine(a, b, -1);
}

std::optional<SymPolynomial> PolynomialDomain::multiply(const Value& a, const Value& b) {
    if (a.terms.size() * b.terms.size() > kMaxTerms)
        return fail("it has too many terms");
    Value result;
    for (const auto& [left, leftCoefficient] : a.terms) {
        for (const auto& [right, rightCoefficient] : b.terms) {
            SymMonomial monomial = left;
            for (const auto& [atom, power] : right)
                monomial[atom] += power;
            if (degree(monomial) > kMaxPower)
                return fail("a power is too large");
            std::int64_t product = 0;
            std::int64_t& sum = result.terms[monomial];
            if (__builtin_mul_overflow(leftCoefficient, rightCoefficient, &product) ||
                __builtin_add_overflow(sum, product, &sum) || !hasMagnitude(sum))
                return fail("a number is out of range");
            if (sum == 0)
                result.terms.erase(monomial);
        }
    }
    return result;
}

std::optional<SymPolynomial> PolynomialDomain::floorDivide(const Value& a, const Value& b) {
    const std::optional<std::int64_t> divisor = b.asConstant();
    if (divisor && *divisor == 0)
        return fail("it divides by zero");
    if (divisor) {
        if (const std::optional<std::int64_t> dividend = a.asConstant()) {
            const std::optional<std::int64_t> quotient = workbench::floorDivide(*dividend, *divisor);
            if (!quotient)
                return fail("a number is out of range");
            return SymPolynomial::constant(*quotient);
        }
        // Exact division keeps the value: floor(d*p / d) = p.
        Value exact;
        for (const auto& [monomial, coefficient] : a.terms) {
            if (*divisor == -1 || coefficient % *divisor != 0)
                break;
            exact.terms[monomial] = coefficient / *divisor;
        }
        if (exact.terms.size() == a.terms.size())
            return exact;
    }
    return SymPolynomial::atom(parenthesised(a.text()) + "//" + parenthesised(b.text()));
}

std::optional<SymPolynomial> PolynomialDomain::modulo(const Value& a, const Value& b) {
    const std::optional<std::int64_t> divisor = b.asConstant();
    if (divisor && *divisor == 0)
        return fail("it divides by zero");
    const std::optional<std::int64_t> dividend = a.asConstant();
    if (divisor && dividend)
        return SymPolynomial::constant(floorModulo(*dividend, *divisor).value_or(0));
    return SymPolynomial::atom(parenthesised(a.text()) + "%" + parenthesised(b.text()));
}

std::optional<SymPolynomial> PolynomialDomain::power(const Value& a, const Value& b) {
    const std::optional<std::int64_t> exponent = b.asConstant();
    if (!exponent || *exponent < 0 || *exponent > kMaxPower)
        return fail("only powers from 0 to " + std::to_string(kMaxPower) + " are known");
    std::optional<Value> result = SymPolynomial::constant(1);
    for (std::int64_t i = 0; result && i < *exponent; ++i)
        result = multiply(*result, a);
    return result;
}

std::optional<SymPolynomial> PolynomialDomain::call(std::string_view function,
                                                    const std::vector<Value>& values) {
    const bool isMax = function == "Max";
    std::optional<std::int64_t> constant;
    std::vector<std::string> symbolic;
    for (const Value& value : values) {
        if (const std::optional<std::int64_t> known = value.asConstant())
            constant = !constant ? *known : isMax ? std::max(*constant, *known) : std::min(*constant, *known);
        else
            symbolic.push_back(value.text());
    }
    if (symbolic.empty())
        return SymPolynomial::constant(constant.value_or(0));
    std::sort(symbolic.begin(), symbolic.end());
    symbolic.erase(std::unique(symbolic.begin(), symbolic.end()), symbolic.end());
    if (!constant && symbolic.size() == 1)
        return values.front();
    std::string text = std::string(function) + "(";
    if (constant)
        text += std::to_string(*constant);
    for (const std::string& operand : symbolic)
        text += (text.back() == '(' ? "" : ", ") + operand;
    return SymPolynomial::atom(text + ")");
}

} // namespace workbench
