#pragma once

#include "core/graph/sym_int.h"
#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace workbench {

/// The distinct symbolic integers of a program. A graph of thousands of nodes holds a handful ("s27",
/// "2*s27"), so each is evaluated once per run, and only when the symbols have changed since the last one;
/// nodes then look their integers up by index.
class SymTable {
public:
    /// The index of an expression, or of a constant, in the table.
    std::int32_t add(const SymInt& expression);
    /// Evaluates all expressions; an error names the symbol without a value.
    Status bind(const SymbolBindings& bindings);
    /// Those of the last bind() that went well.
    const SymbolBindings& bindings() const { return m_bindings; }
    /// The first symbol of the expressions from index `from` on that is not in `known`; empty if there is
    /// none.
    std::string unknownSymbol(const std::vector<std::string>& known, std::size_t from) const;
    std::size_t size() const { return m_expressions.size(); }
    std::int64_t value(std::int32_t index) const { return m_values[static_cast<std::size_t>(index)]; }

private:
    std::vector<SymInt> m_expressions;
    std::vector<std::int64_t> m_values;
    std::unordered_map<std::string, std::int32_t> m_indices; ///< by canonical text
    SymbolBindings m_bindings;
    bool m_bound = false;
};

} // namespace workbench
