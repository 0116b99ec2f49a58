#pragma once

#include "fusion/match/pattern.h"
#include "fusion/site.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace workbench {

/// A site with what its pattern needs to build the replacement.
struct Found {
    const Pattern* pattern = nullptr;
    Match match; ///< of an applicable or present site
    Site site;
};

/// Gives out the ids of sites: "qkv@model.layers.0.self_attn", then "...#1", "...#2" for the next ones there.
class SiteNumbers {
public:
    std::string nextId(std::string_view pattern, std::string_view module);

private:
    std::unordered_map<std::string, int> m_count;
};

/// Tries every pattern at every place, larger patterns first; a pattern's sites stand in node order.
std::vector<Found> findSites(const MatchContext& context);

} // namespace workbench
