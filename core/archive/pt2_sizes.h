#pragma once

#include "core/graph/graph.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace workbench::pt2 {

/// A value for each symbol that is the size of an input, all different: torch wants examples.
SymbolBindings exampleSizes(const Graph& graph);

/// Writes SymInts into an archive. Shapes hold expressions; arguments need nodes that make the numbers:
/// `aten.sym_size.int` of an input, and arithmetic on those. Both are made on demand, once per expression.
class SizeWriter {
public:
    /// `taken`: names that nodes of the graph have.
    SizeWriter(const Graph& graph, std::unordered_set<std::string> taken);

    /// {"as_int": 64} or {"as_expr": {...}}, for shapes.
    nlohmann::json size(const SymInt& size);
    /// {"as_int": 64} or {"as_name": "sym_size_int"}, for arguments.
    nlohmann::json operand(const SymInt& size);

    /// The nodes and their values; they depend on the graph's inputs only. Valid after all calls of
    /// operand().
    nlohmann::json nodes = nlohmann::json::array();
    nlohmann::json values = nlohmann::json::object();
    const SymbolBindings& examples() const { return m_examples; }
    /// What stopped a call; empty when all went well.
    const std::string& problem() const { return m_problem; }

private:
    friend class NodeDomain;
    nlohmann::json expression(const SymInt& size);
    std::string addNode(const char* target, nlohmann::json inputs, const SymInt& value, const char* baseName);
    void fail(std::string problem);

    struct Origin {
        std::string input;
        std::int64_t dim = 0;
    };
    std::map<std::string, Origin, std::less<>> m_origins;
    SymbolBindings m_examples;
    std::unordered_map<std::string, std::string> m_nodeOf;
    std::unordered_map<std::string, nlohmann::json> m_expressions;
    std::unordered_set<std::string> m_taken;
    std::string m_problem;
};

} // namespace workbench::pt2
