#include "app/session/overview.h"

#include <algorithm>

namespace workbench {
namespace {

void count(const Site& site, const SiteOutcome& outcome, ModuleFusion& module) {
    if (site.verdict == SiteVerdict::refused)
        ++module.refused;
    else
        ++module.found;
    if (isDone(outcome.state))
        ++module.done;
}

/// Calls `visit` with the path and each of its ancestors, "" last.
template <class Visit>
void eachAncestor(std::string_view path, const Visit& visit) {
    visit(path);
    while (!path.empty()) {
        const std::size_t dot = path.rfind('.');
        path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
        visit(path);
    }
}

} // namespace

bool isDone(SiteOutcome::State state) {
    return state == SiteOutcome::State::applied || state == SiteOutcome::State::present ||
           state == SiteOutcome::State::contained;
}

Overview overviewOf(const TracedModel& model, const Rewritten& rewritten) {
    Overview overview;
    overview.patterns = summarizePatterns(model, rewritten);
    for (SiteGroup& group : groupSites(model, rewritten))
        if (!isDone(rewritten.outcomes[group.sites.front()].state))
            overview.left.push_back(std::move(group));
    const std::vector<Site>& sites = model.analysis.sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
        eachAncestor(sites[i].module, [&](std::string_view path) {
            const auto place = overview.modules.find(path);
            count(sites[i], rewritten.outcomes[i],
                  place == overview.modules.end() ? overview.modules[std::string(path)] : place->second);
        });
    overview.nodes = static_cast<std::int64_t>(model.canonical.nodes.size());
    overview.rewrittenNodes = static_cast<std::int64_t>(rewritten.graph.nodes.size());
    return overview;
}

} // namespace workbench
