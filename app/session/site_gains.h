#pragma once

#include "app/session/bench_report.h"
#include "app/session/site_evidence.h"

#include <map>
#include <vector>

namespace workbench {

/// What each applied site is worth in decoding, by site, of a measurement that switched one pattern off at a
/// time: the pattern's effect divided among its sites, which do the same work in each layer. Empty when the
/// measurement did not ask for it.
std::map<std::size_t, SpeedGain> siteGains(const BenchReport& report, const Analysis& analysis,
                                           const std::vector<SiteOutcome>& outcomes);

} // namespace workbench
