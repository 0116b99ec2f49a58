#include "app/session/site_gains.h"

namespace workbench {

std::map<std::size_t, SpeedGain> siteGains(const BenchReport& report, const Analysis& analysis,
                                           const std::vector<SiteOutcome>& outcomes) {
    std::map<std::size_t, SpeedGain> gains;
    for (const PatternEffect& effect : report.patterns) {
        const Comparison comparison = effectOf(effect, report, Quantity::decode);
        const auto share = [&](double ratio) {
            return 100 * (ratio - 1) / static_cast<double>(effect.sites);
        };
        for (std::size_t i = 0; i < outcomes.size(); ++i)
            if (analysis.sites[i].pattern == effect.pattern &&
                outcomes[i].state == SiteOutcome::State::applied)
                gains[i] = {share(comparison.ratio), share(comparison.interval.low),
                            share(comparison.interval.high), report.load.weights};
    }
    return gains;
}

} // namespace workbench
