#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Values of the symbols of a graph, for example {"s27": 33}.
using SymbolBindings = std::map<std::string, std::int64_t, std::less<>>;

/// An integer that is known, or an expression over the symbols of a graph ("s27", "2*s27 + 1", "s27//2").
///
/// Expressions are kept as canonical text (a polynomial with sorted terms; calls such as `Max(1, s27)` and
/// `//`, `%` are opaque atoms), so that two equal SymInts have equal text. Most are constants: those hold no
/// text at all.
class SymInt {
public:
    SymInt(std::int64_t value = 0) : m_value(value) {}

    /// Reads sympy's spelling as torch.export writes it ("s27", "s27 + 1", "((s27//2))", "Max(1, s27)").
    static Result<SymInt> parse(std::string_view text);
    /// A single symbol.
    static SymInt symbol(std::string name);

    bool isConstant() const { return m_text.empty(); }
    /// The value of a constant; asserts isConstant().
    std::int64_t constant() const;
    /// Canonical text: "12", "s27", "2*s27 + 1".
    std::string text() const;
    /// The value under the bindings; an error names the symbol that has none.
    Result<std::int64_t> evaluate(const SymbolBindings& bindings) const;
    std::vector<std::string> symbols() const;

    friend SymInt operator+(const SymInt& a, const SymInt& b);
    friend SymInt operator-(const SymInt& a, const SymInt& b);
    friend SymInt operator*(const SymInt& a, const SymInt& b);
    friend bool operator==(const SymInt& a, const SymInt& b) = default;

private:
    std::int64_t m_value = 0;
    std::string m_text; ///< empty for constants
};

using SymShape = std::vector<SymInt>;

} // namespace workbench
