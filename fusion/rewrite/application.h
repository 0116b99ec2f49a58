#pragma once

#include "fusion/match/find.h"
#include "fusion/rewrite/replacement.h"

#include <vector>

namespace workbench {

/// A site that is applied, with its replacement.
struct Applied {
    std::size_t site = 0; ///< index into the analysis
    const Match* match = nullptr;
    Replacement replacement;
};

/// The canonical graph with the applied sites replaced.
struct Assembly {
    Graph graph;
    std::vector<std::vector<NodeId>> replacements; ///< per applied site: its nodes in the new graph
    std::vector<std::size_t>
        cycle; ///< indices of applied sites that wait for each other; empty when the graph is complete
};

/// Nodes keep the canonical order as far as their operands allow; a replacement stands where its first
/// removed node stood. Nodes, parameters, buffers and constants that nothing reads any more are dropped.
Assembly assemble(const GraphView& canonical, const std::vector<Applied>& applied);

} // namespace workbench
