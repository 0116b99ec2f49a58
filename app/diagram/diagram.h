#pragma once

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

/// What is drawn of a graph: the boxes and edges of one scope, before any position or colour.

namespace workbench {

struct Box {
    enum class Kind { module, node, value };
    /// What a value box stands for.
    enum class Role {
        none,      ///< not a value
        input,     ///< comes into the scope
        output,    ///< leaves the scope
        parameter, ///< weights, buffers, constants: beside the node that reads them
        copy,      ///< a value with many users: beside every user but the first
    };

    std::string
        key; ///< unique in its diagram and the same in the next one: "m:model.layers.0-27", "n:linear_3", ...
    Kind kind = Kind::node;
    Role role = Role::none;
    std::string title;                ///< "q_proj", "softmax", "hidden_states"
    std::string subtitle;             ///< class of a module, type of a value; "" for a node
    std::vector<std::string> details; ///< for close up: "eps 1e-05", "weight bf16[576, 576]"
    std::string module;               ///< path of the module; of a folded box: of the first one
    std::vector<std::string> modules; ///< of a folded box: paths of all, in order; else empty
    NodeId node = kNone;              ///< kind node; of a value: its producer
    ValueId value = kNone;            ///< kind value
    std::int32_t parent = -1;         ///< index of the expanded box that contains it; parents come first
    std::int32_t beside = -1;         ///< parameter, copy: the box that it stands beside
    bool expandable = false;          ///< can be opened in place or as a scope of its own
    bool expanded = false;            ///< its content is drawn within it
    std::int64_t count = 1;           ///< of a folded box: how many alike
    std::vector<NodeId> nodes;        ///< all nodes that it stands for, ascending; of a value none
};

struct Edge {
    std::int32_t from = -1, to = -1; ///< indices of boxes that are not expanded
    ValueId value = kNone;           ///< the first one that it carries
    std::string label;               ///< "bf16[1, T, 576]"; "2 values" when it carries several types
    std::int64_t values = 1;         ///< how many it carries
};

struct Diagram {
    std::string scope; ///< module path; "" is the whole model
    std::vector<Box> boxes;
    std::vector<Edge> edges;
};

struct DiagramRequest {
    std::string scope;
    /// What is opened in place: a module path or, for a folded box, "model.layers.0-27" (Box::key without
    /// "m:");
    /// "*" opens all that have
    /// more than one node.
    std::set<std::string> expanded;
    std::int64_t copiedFrom = 5; ///< a value with that many using boxes is copied beside its users
    std::int64_t foldedFrom =
        12; ///< alike siblings in a row are folded once the scope has that many numbered ones
};

/// A scope that is no module of the graph gives an empty diagram. Modules that are never called themselves
/// (lists of layers) have no box: their children stand in their place.
Diagram buildDiagram(const Graph& graph, const ModuleTree& tree, const DiagramRequest& request);

/// What a first look should show: the scope with the modules opened that would else be its only large box.
DiagramRequest initialRequest(const Graph& graph, const ModuleTree& tree, const std::string& scope = {});

/// The request in which a module's or a node's own box shows: all that hides it is opened. A
/// module that has no other node stays closed: its box stands for the node.
DiagramRequest revealNode(const Graph& graph, const ModuleTree& tree, DiagramRequest request, NodeId node);
DiagramRequest revealModule(const Graph& graph, const ModuleTree& tree, DiagramRequest request,
                            const std::string& path);

/// The innermost box that stands for a node; -1: not in this diagram.
std::int32_t boxOf(const Diagram& diagram, NodeId node);

/// Every module from the model to the scope: {"", "model", "model.layers.0"}; containers left out.
std::vector<std::string> breadcrumbs(const Graph& graph, const std::string& scope);

/// Text form, for tests and bug reports: one box or edge per line, indented by containment.
std::string print(const Diagram& diagram);

} // namespace workbench
