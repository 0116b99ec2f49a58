#pragma once

#include "fusion/coverage.h"
#include "fusion/match/context.h"
#include "fusion/rewrite/replacement.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// One kind of fusion: what it is, where to look, how to recognise it, what to put in its place.
struct Pattern {
    std::string_view name;        ///< "rms-norm": the one handle everywhere
    std::string_view summary;     ///< what becomes one: a phrase for lists
    std::string_view formula;     ///< one line of mathematics
    std::string_view sketch;      ///< before, and after in the last line
    std::string_view explanation; ///< what it gains and where it is seen
    std::string_view refuses;     ///< what looks like it and is not
    /// Base name of the op that takes over: where a graph has it, the site is present. Empty when torch's own
    /// ops do.
    std::string_view op = {};
    /// The smaller patterns whose work that op does too: their sites are present there as well.
    std::vector<std::string_view> contains = {};
    /// What its coverage is measured against.
    Counted counted = Counted::attentions;
    /// Nodes where the pattern may be: every one of them becomes a site, so only near misses and counted
    /// places belong here.
    std::vector<NodeId> (*places)(const MatchContext& context) = nullptr;
    /// All conditions, in order. Never changes the graph.
    bool (*match)(Search& search, NodeId place) = nullptr;
    /// Path of the module that the site is named after.
    std::string_view (*module)(const MatchContext& context, NodeId place) = nullptr;
    /// Adds the nodes that take over; all conditions have been checked. Unused when matches are always
    /// `present`.
    void (*build)(const MatchContext& context, const Match& match, Replacement& replacement) = nullptr;
};

/// All patterns, larger ones first: of two sites that share nodes, the one whose pattern comes first is
/// applied.
std::span<const Pattern> patterns();
/// nullptr when there is no such pattern.
const Pattern* findPattern(std::string_view name);
std::string patternNames(); ///< "attention, qk-norm-rope, ..."

/// The usual Pattern::module: that of the place itself.
std::string_view moduleOfPlace(const MatchContext& context, NodeId place);

} // namespace workbench
