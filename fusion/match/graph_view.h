#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Read-only helpers over a graph, shared by the canonical form, the matcher and the coverage counts.

namespace workbench {

/// A number given as an argument, whatever its spelling; nullopt for tensors, symbols and absent arguments.
std::optional<double> number(const ArgumentValue* value);
/// A constant integer argument.
std::optional<std::int64_t> integer(const ArgumentValue* value);
/// A list of constant integers; a single one counts as a list of one.
std::optional<std::vector<std::int64_t>> integers(const ArgumentValue* value);
/// True when the argument is absent, none, false or an empty list.
bool isAbsent(const ArgumentValue* value);
/// -1 -> rank - 1.
std::int64_t wrapDim(std::int64_t dim, std::size_t rank);
/// One argument's value as it reads in messages ("[1]", "1e-05", "%x").
std::string describe(const Graph& graph, const ArgumentValue* value);

class GraphView;
/// The operand of a sum or product beside `known`; kNone when that is a number.
ValueId otherOperand(const GraphView& view, NodeId node, ValueId known);
/// Is the value whole[..., start:end]?
bool isColumns(const GraphView& view, ValueId value, ValueId whole, std::int64_t start, std::int64_t end);

/// A graph with its users and inputs indexed. Valid as long as the graph is not changed.
class GraphView {
public:
    explicit GraphView(const Graph& graph);

    const Graph& graph() const { return m_graph; }
    const Node& node(NodeId id) const { return m_graph.node(id); }
    std::string_view op(NodeId id) const { return m_ops[static_cast<std::size_t>(id)]; }
    NodeId producer(ValueId value) const { return m_graph.value(value).producer; }
    /// Base name of the op that makes the value; "" for inputs.
    std::string_view producerOp(ValueId value) const;
    const TensorMeta& meta(ValueId value) const { return m_graph.value(value).meta; }
    std::span<const Use> uses(ValueId value) const { return m_users.of(value); }
    /// The node that all uses of the value belong to; kNone when there are several, none, or it is a graph
    /// output.
    NodeId onlyUser(ValueId value) const;
    const Input* input(ValueId value) const;
    bool isParameter(ValueId value) const;
    /// The first output.
    ValueId result(NodeId id) const { return node(id).outputs.front(); }
    /// "aten.sum (%sum_1)", "parameter model.norm.weight", "input %x".
    std::string describe(ValueId value) const;

private:
    const Graph& m_graph;
    Users m_users;
    std::vector<std::string_view> m_ops;
    std::vector<std::int32_t> m_inputs; ///< by value: index into Graph::inputs
};

} // namespace workbench
