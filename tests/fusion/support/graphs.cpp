#include "tests/fusion/support/graphs.h"

#include <algorithm>
#include <functional>

namespace workbench::test {

Graph parsed(std::string_view text) {
    Result<Graph> graph = parseGraph(text);
    if (!graph) {
        ADD_FAILURE() << graph.error().message << " " << graph.error().where << "\n" << text;
        return {};
    }
    return graph.value();
}

Graph canonical(std::string_view text) {
    Result<Graph> graph = canonicalize(parsed(text));
    if (!graph) {
        ADD_FAILURE() << graph.error().message << " " << graph.error().where;
        return {};
    }
    return graph.value();
}

Site siteOf(const Analysis& analysis, std::string_view id) {
    for (const Site& site : analysis.sites)
        if (site.id == id)
            return site;
    std::string known;
    for (const Site& site : analysis.sites)
        known += site.id + " ";
    ADD_FAILURE() << "no site " << id << " among " << known;
    return {};
}

std::string applicable(const Analysis& analysis, std::string_view pattern) {
    std::string ids;
    for (const Site& site : analysis.sites)
        if (site.pattern == pattern && site.verdict != SiteVerdict::refused)
            ids += (ids.empty() ? "" : " ") + site.id;
    return ids;
}

std::string refusal(const Graph& canonical, std::string_view pattern) {
    std::string reason;
    for (const Site& site : analyze(canonical).sites) {
        if (site.pattern != pattern)
            continue;
        if (site.verdict != SiteVerdict::refused)
            return "";
        EXPECT_TRUE(reason.empty()) << "several sites are refused";
        EXPECT_TRUE(site.miss.has_value());
        EXPECT_TRUE(site.nodes.empty());
        if (site.miss)
            reason = site.miss->expected + "; " + site.miss->found;
    }
    return reason;
}

namespace {

std::string apply(const Graph& canonical, const std::function<bool(const Site&)>& wanted,
                  Graph* graph = nullptr) {
    const Analysis analysis = analyze(canonical);
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions[site.id] = wanted(site) ? Decision::apply : Decision::reject;
    const Result<Rewritten> result = rewrite(canonical, analysis, decisions);
    if (!result) {
        ADD_FAILURE() << result.error().message << " " << result.error().where;
        return {};
    }
    if (graph)
        *graph = result->graph;
    return print(result->graph, {.locations = false});
}

} // namespace

std::string rewritten(const Graph& canonical, std::initializer_list<std::string_view> rejected) {
    return apply(canonical, [&](const Site& site) {
        return std::find(rejected.begin(), rejected.end(), site.pattern) == rejected.end();
    });
}

std::string rewrittenBy(const Graph& canonical, std::string_view pattern) {
    return apply(canonical, [&](const Site& site) { return site.pattern == pattern; });
}

std::string secondRun(const Graph& canonical) {
    Graph graph;
    apply(
        canonical, [](const Site&) { return true; }, &graph);
    const Result<Graph> again = canonicalize(graph);
    if (!again)
        return again.error().message;
    std::string ids;
    for (const Site& site : analyze(*again).sites)
        if (site.verdict == SiteVerdict::applicable)
            ids += (ids.empty() ? "" : " ") + site.id;
    return ids;
}

std::string changed(std::string text, std::string_view from, std::string_view to) {
    EXPECT_NE(text.find(from), std::string::npos) << "nothing to change: " << from;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

} // namespace workbench::test
