#pragma once

#include "core/graph/graph.h"
#include "core/graph/module_path.h"
#include "fusion/site.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace workbench {

/// A tensor that a node reads or makes.
struct InspectedValue {
    std::string argument; ///< "weight"; of an output: its name in the graph
    ValueId value = kNone;
    NodeId producer = kNone;       ///< kNone: an input of the graph
    const Input* input = nullptr;  ///< of the graph; nullptr: a node makes it
    std::vector<NodeId> users;     ///< other nodes, in order, each once
    bool isResult = false;         ///< it is an output of the graph
    std::int64_t storedBytes = -1; ///< of a parameter, buffer or constant
};

struct InspectedNode {
    std::string op;
    std::vector<ModuleInfo> modules; ///< the path to it, the model first
    std::vector<InspectedValue> inputs, outputs;
    std::vector<std::pair<std::string, std::string>> attributes; ///< arguments that are no tensors, as text
    const SourceStack* source = nullptr;                         ///< nullptr: unknown
    std::vector<std::size_t> sites;                              ///< that remove it, or stand or failed there
};

struct InspectedModule {
    ModuleInfo module;
    std::int64_t nodes = 0; ///< submodules included
    std::int64_t parameterCount = 0, parameterBytes = 0;
    std::vector<std::pair<std::string, std::int64_t>> ops; ///< most frequent first
    std::vector<const Input*> parameters;                  ///< in the order of the graph
    std::vector<ModuleInfo> children;                      ///< direct ones
    std::vector<std::size_t> sites;
};

/// What there is to know of the parts of a graph, looked up without walking all of it each time. Holds
/// references: graph and analysis must live as long.
class Inspection {
public:
    Inspection(const Graph& graph, const Analysis& analysis);

    InspectedNode node(NodeId id) const;
    /// "" is the model; a path without nodes or parameters gives an empty one.
    InspectedModule module(const std::string& path) const;
    /// Bytes of a graph input whose shape is known, else -1.
    std::int64_t storedBytes(const Input& input) const;

private:
    InspectedValue value(std::string argument, ValueId id, NodeId seenFrom) const;

    const Graph& m_graph;
    const Analysis& m_analysis;
    Users m_users;
    std::vector<std::int32_t> m_inputs;            ///< by value: index into Graph::inputs
    std::vector<std::vector<std::size_t>> m_sites; ///< by node
};

} // namespace workbench
