#include "app/cli/report.h"

#include "app/session/site_groups.h"

#include <algorithm>
#include <iomanip>

namespace workbench::cli {
namespace {

/// "28 applied, 1 rejected" for the sites of a pattern; refused ones are not part of what was found.
std::string statesText(const PatternSummary& summary) {
    std::string text;
    for (const StateCount& entry : summary.states)
        text += (text.empty() ? "" : ", ") + std::to_string(entry.count) + " " + std::string(entry.state);
    return text.empty() ? "none" : text;
}

} // namespace

void printCoverage(std::ostream& out, const Session& session, const Rewritten& rewritten) {
    for (const PatternSummary& summary : summarizePatterns(session.model(), rewritten))
        out << std::left << std::setw(14) << summary.coverage.pattern << std::right << std::setw(9)
            << std::to_string(summary.coverage.found) + "/" + std::to_string(summary.coverage.places)
            << "  of " << summary.coverage.counted << ": " << statesText(summary) << '\n';
}

void printSites(std::ostream& out, const Session& session, const Rewritten& rewritten) {
    const std::vector<SiteGroup> groups = groupSites(session.model(), rewritten);
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
    for (const SiteGroup& group : groupSites(session.model(), nothing)) {
        if (group.reason.empty())
            continue;
        if (!std::exchange(titled, true))
            out << "\nNear misses\n";
        out << group.name << " x" << group.sites.size() << ": " << group.reason << '\n';
    }
}

} // namespace workbench::cli
