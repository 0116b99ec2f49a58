#pragma once

#include "fusion/fusion.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Which nodes of the canonical graph and of the graph rewritten from it belong together. All of it is read
/// from the rewriter's own record (origins, replacements, names that survive), nothing is guessed from
/// shapes.

namespace workbench {

/// What the rewrite did to a node or a value.
enum class Fate {
    kept,    ///< the same on both sides
    merged,  ///< several of the original became this, or this went into it
    removed, ///< original only: nothing reads it any more, it has no partner
    added,   ///< rewritten only: the replacement needs it and no original did its work (the split behind a
             ///< merged product)
};

enum class GraphSide { original, rewritten };

/// One applied site, in the order of the original's nodes.
struct RewriteStep {
    std::size_t site = 0;         ///< index into Analysis::sites
    std::vector<NodeId> original; ///< nodes that it removes
    std::vector<NodeId> rewritten;
    std::string scope;              ///< the innermost module that holds all of them
    std::set<std::string> expanded; ///< modules below the scope that must be open for all of them to show
};

/// Immutable once made; holds no reference to the graphs.
class Correspondence {
public:
    Correspondence(const Graph& canonical, const Analysis& analysis, const Rewritten& rewritten);

    Fate fate(GraphSide side, NodeId node) const { return nodesOf(side)[index(node)].fate; }
    /// Nodes on the other side, ascending; empty for removed and added ones... of an added node: all of its
    /// site.
    const std::vector<NodeId>& partners(GraphSide side, NodeId node) const {
        return nodesOf(side)[index(node)].partners;
    }
    /// The applied site that the node belongs to, or -1.
    std::int32_t site(GraphSide side, NodeId node) const { return nodesOf(side)[index(node)].site; }

    Fate valueFate(GraphSide side, ValueId value) const { return valuesOf(side)[index(value)].fate; }
    /// The value of the same name, or the parameter that it was merged into or from.
    const std::vector<ValueId>& valuePartners(GraphSide side, ValueId value) const {
        return valuesOf(side)[index(value)].partners;
    }

    const std::vector<RewriteStep>& steps() const { return m_steps; }

private:
    struct Entry {
        Fate fate = Fate::removed;
        std::vector<std::int32_t> partners;
        std::int32_t site = -1;
    };
    static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
    const std::vector<Entry>& nodesOf(GraphSide side) const { return m_nodes[side == GraphSide::rewritten]; }
    const std::vector<Entry>& valuesOf(GraphSide side) const {
        return m_values[side == GraphSide::rewritten];
    }
    void matchNodes(const Graph& canonical, const Rewritten& rewritten);
    void matchValues(const Graph& canonical, const Graph& rewritten);
    void collectSteps(const Graph& canonical, const Analysis& analysis, const Rewritten& rewritten);

    std::vector<Entry> m_nodes[2], m_values[2];
    std::vector<RewriteStep> m_steps;
};

/// The innermost module that holds both paths: of "model.layers.3.mlp" and "model.layers.3.norm" it is
/// "model.layers.3".
std::string commonModule(std::string_view a, std::string_view b);

} // namespace workbench
