#include "app/cli/report.h"

#include "app/cli/site_groups.h"

#include <algorithm>
#include <iomanip>
#include <map>

namespace workbench::cli {
namespace {

/// "28 applied, 1 rejected" for the sites of a pattern; refused ones are not part of what was found.
std::string statesText(const Session& session, const Rewritten& rewritten, const std::string& pattern) {
    std::map<std::string_view, int> counts;
    std::vector<std::string_view> order;
    const std::vector<Site>& sites = session.model().analysis.sites;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        if (sites[i].pattern != pattern)
            continue;
        const std::string_view shown = shownVerdict(sites[i], rewritten.outcomes[i]);
        if (counts[shown]++ == 0)
            order.push_back(shown);
    }
    std::string text;
    for (const std::string_view shown : order)
        text += (text.empty() ? "" : ", ") + std::to_string(counts[shown]) + " " + std::string(shown);
    return text;
}

} // namespace

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

void printCoverage(std::ostream& out, const Session& session, const Rewritten& rewritten) {
    for (const Coverage& coverage : session.model().analysis.coverage)
        out << std::left << std::setw(14) << coverage.pattern << std::right << std::setw(9)
            << std::to_string(coverage.found) + "/" + std::to_string(coverage.places) << "  of "
            << coverage.counted << ": " <<
            [&] {
                std::string states = statesText(session, rewritten, coverage.pattern);
                return states.empty() ? std::string("none") : states;
            }()
            << '\n';
}

void printSites(std::ostream& out, const Session& session, const Rewritten& rewritten) {
    const std::vector<SiteGroup> groups = groupSites(session, rewritten);
    std::size_t width = 0;
    for (const SiteGroup& group : groups)
        width = std::max(width, group.name.size());
    for (const SiteGroup& group : groups) {
        if (session.model().analysis.sites[group.sites.front()].verdict == SiteVerdict::refused)
            continue; // told among the near misses
        out << std::left << std::setw(static_cast<int>(width)) << group.name << std::right << std::setw(5)
            << "x" + std::to_string(group.sites.size()) << "  " << group.state << '\n';
    }
}

void printNearMisses(std::ostream& out, const Session& session) {
    Rewritten nothing;
    nothing.outcomes.resize(session.model().analysis.sites.size());
    bool titled = false;
    for (const SiteGroup& group : groupSites(session, nothing)) {
        if (group.reason.empty())
            continue;
        if (!std::exchange(titled, true))
            out << "\nNear misses\n";
        out << group.name << " x" << group.sites.size() << ": " << group.reason << '\n';
    }
}

} // namespace workbench::cli
