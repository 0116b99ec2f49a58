#include "app/session/summary.h"

#include "app/session/plan_builder.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace workbench {

std::string modelLine(const ModelFacts& facts) {
    std::string line = facts.className.empty() ? "a program without a configuration" : facts.className;
    if (!facts.modelType.empty())
        line += " (" + facts.modelType + ", " + facts.dtype + ")";
    if (facts.layers > 0)
        line += ", " + std::to_string(facts.layers) + " layers";
    if (facts.hiddenSize > 0)
        line += ", hidden " + std::to_string(facts.hiddenSize);
    if (facts.vocabulary > 0)
        line += ", vocabulary " + std::to_string(facts.vocabulary);
    return line;
}

std::string_view shownVerdict(const Site& site, const SiteOutcome& outcome) {
    return outcome.state == SiteOutcome::State::undecided ? verdictName(site.verdict)
                                                          : stateName(outcome.state);
}

std::int64_t PatternSummary::countOf(std::string_view state) const {
    const auto found = std::find_if(states.begin(), states.end(),
                                    [&](const StateCount& entry) { return entry.state == state; });
    return found == states.end() ? 0 : found->count;
}

std::vector<PatternSummary> summarizePatterns(const TracedModel& model, const Rewritten& rewritten) {
    std::vector<PatternSummary> summaries;
    std::map<std::string_view, std::size_t> places;
    for (const Coverage& coverage : model.analysis.coverage) {
        places.emplace(coverage.pattern, summaries.size());
        summaries.push_back({coverage, {}});
    }
    for (std::size_t i = 0; i < model.analysis.sites.size(); ++i) {
        const Site& site = model.analysis.sites[i];
        const auto place = places.find(site.pattern);
        if (place == places.end())
            continue;
        std::vector<StateCount>& states = summaries[place->second].states;
        const std::string_view shown = shownVerdict(site, rewritten.outcomes[i]);
        const auto known = std::find_if(states.begin(), states.end(),
                                        [&](const StateCount& entry) { return entry.state == shown; });
        if (known == states.end())
            states.push_back({shown, 1});
        else
            ++known->count;
    }
    return summaries;
}

std::string memoryText(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
        value /= 1024;
    std::string text = std::to_string(static_cast<std::int64_t>(value * 10 + 0.5));
    text.insert(text.size() - 1, text.size() == 1 ? "0." : ".");
    return text + " " + units[unit];
}

} // namespace workbench
