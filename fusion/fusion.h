#pragma once

#include "core/support/result.h"
#include "fusion/site.h"

/// The whole of static fusion in three pure functions.

namespace workbench {

/// Drops asserts, dead nodes, no-op casts, aliases and clones, and unifies spellings (addmm, Conv1D and
/// matmul+t -> linear where the weight's layout allows; pow(-0.5), 1/sqrt and x/sqrt -> rsqrt; chunk, split,
/// slice). Names of surviving values stay. Errors: an op that mutates its input cannot be functionalised
/// (names the node).
Result<Graph> canonicalize(const Graph& traced);

/// All candidates of all patterns on a canonical graph; independent of any decision.
Analysis analyze(const Graph& canonical);

/// What became of a site under the decisions.
struct SiteOutcome {
    enum class State {
        applied,
        rejected,
        undecided,
        contained,
        conflicts,
        present,
        refused
    } state = State::undecided;
    std::string with;                ///< contained, conflicts: the id of the other site
    std::vector<NodeId> replacement; ///< applied: its nodes in the rewritten graph
    std::vector<ValueId>
        inputs; ///< applied: operands of the site from outside, in the canonical graph, parameters included
    std::vector<ValueId> outputs; ///< applied: values of the canonical graph that the site makes and others
                                  ///< use (same names in the rewritten graph)
};

struct Rewritten {
    Graph graph;                       ///< origins of every node are ids of the canonical graph
    std::vector<SiteOutcome> outcomes; ///< parallel to Analysis::sites
};

/// Applies the sites that are decided `apply`, larger patterns first; a site whose nodes are taken becomes
/// `contained` (all taken by one) or `conflicts`. The canonical graph is not changed. An error names the
/// pattern whose replacement broke an invariant.
Result<Rewritten> rewrite(const Graph& canonical, const Analysis& analysis, const Decisions& decisions);

} // namespace workbench
