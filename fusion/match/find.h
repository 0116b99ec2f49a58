#pragma once

#include "fusion/match/pattern.h"
#include "fusion/site.h"

#include <vector>

namespace workbench {

/// A site with what its pattern needs to build the replacement.
struct Found {
    const Pattern* pattern = nullptr;
    Match match; ///< of an applicable or present site
    Site site;
};

/// Tries every pattern at every place, larger patterns first; a pattern's sites stand in node order.
std::vector<Found> findSites(const MatchContext& context);

} // namespace workbench
