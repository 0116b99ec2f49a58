#include "fusion/rewrite/replacement.h"

namespace workbench {

Replacement::Replacement(const Graph& graph, ValueId firstId, NodeId like)
    : m_graph(graph), m_firstId(firstId) {
    locateAt(like);
}

const TensorMeta& Replacement::meta(ValueId value) const {
    return value < m_firstId ? m_graph.value(value).meta
                             : m_values[static_cast<std::size_t>(value - m_firstId)].meta;
}

void Replacement::locateAt(NodeId like) {
    m_module = m_graph.node(like).module;
    m_source = m_graph.node(like).source;
}

void Replacement::add(std::string op, std::vector<Argument> arguments, std::vector<ValueId> outputs) {
    m_nodes.push_back({std::move(op), std::move(arguments), std::move(outputs), m_module, m_source});
}

ValueId Replacement::fresh(std::string name, TensorMeta meta) {
    m_values.push_back({std::move(name), std::move(meta)});
    return m_firstId + static_cast<ValueId>(m_values.size()) - 1;
}

ValueId Replacement::derived(std::string target, DerivedParameter from, TensorMeta meta) {
    std::string name = "p_" + target;
    for (char& c : name)
        if (c == '.')
            c = '_';
    const ValueId value = fresh(name, meta);
    m_inputs.emplace(value, MadeInput{{name, std::move(meta)}, std::move(target), std::move(from)});
    return value;
}

ValueId Replacement::cast(ValueId value, ScalarType dtype) {
    TensorMeta wanted = meta(value);
    if (wanted.dtype == dtype)
        return value;
    wanted.dtype = dtype;
    const std::string& base = value < m_firstId ? m_graph.value(value).name
                                                : m_values[static_cast<std::size_t>(value - m_firstId)].name;
    const ValueId result = fresh(base + "_" + std::string(name(dtype)), std::move(wanted));
    add("aten._to_copy.default", {tensor("self", value), Argument{"dtype", dtype}}, {result});
    return result;
}

Argument tensor(std::string_view name, ValueId value) {
    return {std::string(name), ValueRef{value}};
}

Argument noTensor(std::string_view name) {
    return {std::string(name), None{}};
}

Argument real(std::string_view name, double value) {
    return {std::string(name), value};
}

Argument text(std::string_view name, std::string value) {
    return {std::string(name), std::move(value)};
}

Argument integers(std::string_view name, std::vector<SymInt> values) {
    return {std::string(name), std::move(values)};
}

Argument integer(std::string_view name, SymInt value) {
    return {std::string(name), std::move(value)};
}

} // namespace workbench
