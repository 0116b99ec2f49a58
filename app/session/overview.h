#pragma once

#include "app/session/site_groups.h"
#include "app/session/summary.h"

#include <map>
#include <string>
#include <vector>

namespace workbench {

/// Sites below a module, submodules included.
struct ModuleFusion {
    std::int64_t found = 0; ///< applicable or present
    std::int64_t done = 0;  ///< applied, present, or contained in an applied one
    std::int64_t refused = 0;
};

/// A model at a glance, under the decisions.
struct Overview {
    std::vector<PatternSummary> patterns;
    std::vector<SiteGroup> left; ///< what is not fused: undecided, rejected, conflicting, refused
    std::map<std::string, ModuleFusion, std::less<>> modules; ///< by path; "" is the model
    std::int64_t nodes = 0;
    std::int64_t rewrittenNodes = 0;
};

Overview overviewOf(const TracedModel& model, const Rewritten& rewritten);

/// Nothing is left to do at the site: it is fused, or its nodes belong to one that is.
bool isDone(SiteOutcome::State state);

} // namespace workbench
