#pragma once

#include "app/diagram/diagram.h"
#include "app/diagram/scope_modules.h"
#include "app/diagram/type_text.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace workbench {

/// Puts a diagram together: boxes for all nodes of the scope first, then what flows between them.
class DiagramBuilder {
public:
    DiagramBuilder(const Graph& graph, const ModuleTree& tree, const DiagramRequest& request);
    Diagram run();

private:
    /// Where the nodes of a module go.
    struct Place {
        std::int32_t box = -1; ///< -1: the scope itself
        bool open = true;      ///< its nodes have boxes of their own
    };
    /// A value with the boxes that it leads to, in the order of their nodes.
    struct Flow {
        ValueId value = kNone;
        std::vector<std::int32_t> to;
        NodeId outside = kNone; ///< first using node out of the scope
        bool leaves = false;    ///< used out of the scope, or an output of the graph
    };

    bool isExpanded(const std::string& key, std::int64_t nodes) const;
    const std::vector<ModuleGroup>& groupsOf(std::int32_t module);
    Place placeOf(std::int32_t module);
    Place placeBelow(Place parent, std::int32_t module);
    std::int32_t addModule(std::int32_t parent, const ModuleGroup& group, bool folded, bool expanded);
    void addNode(NodeId id, std::int32_t parent);
    void describeModules();
    void describeLeafModule(Box& box) const;

    void collectFlows();
    void draw(const Flow& flow);
    std::int32_t sourceOf(const Flow& flow);
    void addOutput(const Flow& flow, std::int32_t from);
    void addPill(Box::Role role, ValueId value, std::int32_t beside);
    void addPills();
    void connect(std::int32_t from, std::int32_t to, ValueId value);
    void labelEdges();
    Box valueBox(Box::Role role, ValueId value) const;
    std::string titleOf(ValueId value, std::string_view module) const;

    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
    Box& box(std::int32_t index) { return m_diagram.boxes[at(index)]; }

    const Graph& m_graph;
    const DiagramRequest& m_request;
    ScopeModules m_modules;
    SymbolNames m_names;
    Diagram m_diagram;
    bool m_allExpanded = false;
    std::vector<std::int32_t> m_inputOfValue; ///< index into Graph::inputs, -1: made by a node
    std::vector<std::int32_t> m_boxOfNode;    ///< -1: out of the scope
    std::map<std::int32_t, std::vector<ModuleGroup>> m_groups;
    std::map<std::int32_t, Place> m_places;
    std::map<std::string, std::int32_t, std::less<>> m_moduleBoxes;
    std::map<std::int32_t, std::int64_t> m_parameterBytes; ///< by module box
    std::vector<Flow> m_flows;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> m_edges;
    std::vector<std::vector<ValueId>> m_edgeValues;
    std::map<std::int32_t, std::vector<std::pair<Box::Role, ValueId>>>
        m_pills; ///< by the box they stand beside
};

/// "dim -1", "eps 1e-05": the arguments of a node that are no tensors.
std::vector<std::string> settingsOf(const Node& node, const Graph& graph, const SymbolNames& names);

} // namespace workbench
