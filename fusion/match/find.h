#pragma once

#include "fusion/match/pattern.h"
#include "fusion/site.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace workbench {

/// What a pattern found at a site: all that it needs to build the replacement.
struct Found {
    const Pattern* pattern = nullptr;
    Match match; ///< of an applicable or present site
};

/// The sites of a graph and, parallel to them, what was found.
struct FoundSites {
    std::vector<Site> sites;
    std::vector<Found> found;
};

/// Gives out the ids of sites: "qkv@model.layers.0.self_attn", then "...#1", "...#2" for the next ones there.
class SiteNumbers {
public:
    std::string nextId(std::string_view pattern, std::string_view module);

private:
    std::unordered_map<std::string, int> m_count;
};

/// Tries every pattern at every place, larger patterns first; a pattern's sites stand in node order.
FoundSites findSites(const MatchContext& context);

/// What an analysis keeps for rewrite(): matches are found once, decisions change often.
struct Matches {
    std::vector<Found> found; ///< parallel to Analysis::sites
    std::size_t graph = 0;    ///< hashOf() the analysed graph
};

/// Tells graphs apart whose sites must not be mixed up: over ops, operands and numbers.
std::size_t hashOf(const Graph& graph);

} // namespace workbench
