#include "fusion/coverage.h"
#include "fusion/fusion.h"
#include "fusion/match/find.h"

namespace workbench {

Analysis analyze(const Graph& canonical) {
    const MatchContext context(canonical);
    Analysis analysis;
    FoundSites found = findSites(context);
    analysis.sites = std::move(found.sites);
    analysis.matches = std::make_shared<const Matches>(Matches{std::move(found.found), hashOf(canonical)});
    analysis.coverage = countCoverage(context.view());
    for (Coverage& coverage : analysis.coverage)
        for (const Site& site : analysis.sites)
            if (site.pattern == coverage.pattern && site.verdict != SiteVerdict::refused)
                ++coverage.found;
    return analysis;
}

} // namespace workbench
