#pragma once

#include "core/graph/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// The nodes that take the place of a site. Values of the canonical graph are named by their ids; a value
/// that only the replacement knows gets an id past them.
class Replacement {
public:
    struct Made {
        std::string name;
        TensorMeta meta;
    };
    struct MadeInput {
        Made value;
        std::string target;
        DerivedParameter derived;
    };
    struct MadeNode {
        std::string op;
        std::vector<Argument> arguments;
        std::vector<ValueId> outputs;
        std::int32_t module, source;
    };

    /// `firstId`: the first id that is free. New nodes belong to the module and source of `like`.
    Replacement(const Graph& graph, ValueId firstId, NodeId like);

    const Graph& graph() const { return m_graph; }
    const TensorMeta& meta(ValueId value) const;
    /// The node that new nodes take their module and source from.
    void locateAt(NodeId like);

    /// A node whose outputs replace values of the canonical graph: they keep name and meta.
    void add(std::string op, std::vector<Argument> arguments, std::vector<ValueId> outputs);
    /// A value that the replacement makes for itself; its name is made unique later.
    ValueId fresh(std::string name, TensorMeta meta);
    /// A parameter made from others.
    ValueId derived(std::string target, DerivedParameter from, TensorMeta meta);
    /// The value itself, or a cast of it.
    ValueId cast(ValueId value, ScalarType dtype);

    ValueId firstId() const { return m_firstId; }
    const std::vector<MadeNode>& nodes() const { return m_nodes; }
    const std::vector<Made>& values() const { return m_values; }            ///< ids from firstId on
    const std::map<ValueId, MadeInput>& inputs() const { return m_inputs; } ///< by the id of their value

private:
    const Graph& m_graph;
    ValueId m_firstId;
    std::int32_t m_module = kNone, m_source = kNone;
    std::vector<MadeNode> m_nodes;
    std::vector<Made> m_values;
    std::map<ValueId, MadeInput> m_inputs;
};

/// Short spellings of arguments.
Argument tensor(std::string_view name, ValueId value);
Argument noTensor(std::string_view name);
Argument real(std::string_view name, double value);
Argument text(std::string_view name, std::string value);
Argument integers(std::string_view name, std::vector<SymInt> values);
Argument integer(std::string_view name, SymInt value);

} // namespace workbench
