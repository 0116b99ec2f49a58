#include "runtime/program/sym_table.h"

#include <algorithm>

namespace workbench {

std::int32_t SymTable::add(const SymInt& expression) {
    const auto [place, isNew] =
        m_indices.try_emplace(expression.text(), static_cast<std::int32_t>(m_expressions.size()));
    if (isNew) {
        m_expressions.push_back(expression);
        m_values.push_back(expression.isConstant() ? expression.constant() : 0);
        m_bound = false;
    }
    return place->second;
}

Status SymTable::bind(const SymbolBindings& bindings) {
    if (m_bound && bindings == m_bindings)
        return Ok{};
    m_bound = false;
    for (std::size_t i = 0; i < m_expressions.size(); ++i) {
        auto value = m_expressions[i].evaluate(bindings);
        if (!value)
            return value.error();
        m_values[i] = *value;
    }
    m_bindings = bindings;
    m_bound = true;
    return Ok{};
}

std::string SymTable::unknownSymbol(const std::vector<std::string>& known, std::size_t from) const {
    for (std::size_t i = from; i < m_expressions.size(); ++i)
        for (std::string& symbol : m_expressions[i].symbols())
            if (std::find(known.begin(), known.end(), symbol) == known.end())
                return std::move(symbol);
    return {};
}

} // namespace workbench
