#pragma once

#include "core/layout/flat_problem.h"

#include <functional>
#include <map>
#include <vector>

namespace workbench {

/// Splits a nested problem into one flat problem per container and puts the solutions together again: an edge
/// that crosses borders passes through a door in each of them.
class Levels {
public:
    Levels(const LayoutGraph& graph, const LayoutOptions& options);

    /// Containers in the order in which they can be solved: what they contain comes first. -1 is the whole.
    const std::vector<std::int32_t>& order() const { return m_order; }
    /// Valid once all containers inside of it have their solutions.
    FlatProblem problem(std::int32_t container) const;
    void setSolution(std::int32_t container, FlatSolution solution);
    /// Once all containers have their solutions.
    Layout assemble() const;

private:
    struct Part { ///< one step of an edge's way, in one container
        std::int32_t container = -1;
        std::size_t edge = 0; ///< index into Level::edges
    };
    struct Level {
        std::vector<std::int32_t> members;
        std::vector<FlatEdge> edges; ///< boxes as indices into members
        std::map<std::pair<FlatEnd, FlatEnd>, std::size_t> known;
        std::map<std::int32_t, std::int32_t> entries, exits; ///< doors by the box that the edges come from
        FlatSolution solution;
    };

    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
    Level& level(std::int32_t container) { return m_levels[at(container + 1)]; }
    const Level& level(std::int32_t container) const { return m_levels[at(container + 1)]; }
    std::vector<std::int32_t> around(std::int32_t box) const;
    void route(std::size_t edge);
    void addPart(std::size_t edge, std::int32_t container, FlatEnd from, FlatEnd to, const Size& label);
    FlatBox flatBox(std::int32_t box) const;
    void placeBoxes(Layout& layout) const;
    Rect boundsOf(const Layout& layout) const;
    void placeEdge(std::size_t edge, Layout& layout) const;
    Point originOf(std::int32_t container, const Layout& layout) const;

    const LayoutGraph& m_graph;
    const LayoutOptions& m_options;
    std::vector<Level> m_levels;      ///< by container + 1
    std::vector<std::int32_t> m_slot; ///< of each box among the members of its parent
    std::vector<std::int32_t> m_order;
    std::vector<std::vector<Part>> m_ways; ///< by edge
    std::vector<std::int32_t> m_labelPart; ///< by edge: index into its way that has its label; -1: none
};

} // namespace workbench
