#pragma once

#include "fusion/match/search.h"
#include "fusion/site.h"

#include <vector>

namespace workbench {

/// Why a site is what it is: every condition that its pattern asked there, in the order of asking, with what
/// was found. All hold but the last one of a refused site; what stands behind that one was not asked. Empty
/// when the graph has no such site. Matches the site anew (milliseconds).
std::vector<CheckedCondition> explain(const Graph& canonical, const Site& site);

} // namespace workbench
