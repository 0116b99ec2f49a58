#include "app/diagram/correspondence.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace workbench {
namespace {

bool isFusedOp(const std::string& op) {
    return op.starts_with("workbench.");
}

/// A node of a replacement does the work of its origins when it is a fused op, or an op that one of them is.
bool takesOver(const Graph& canonical, const Node& node) {
    return isFusedOp(node.op) || std::any_of(node.origins.begin(), node.origins.end(), [&](NodeId origin) {
               return canonical.node(origin).op == node.op;
           });
}

std::string_view parentOf(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return path.substr(0, dot == std::string_view::npos ? 0 : dot);
}

/// Which modules can be a scope, and which ones hold others.
class Modules {
public:
    explicit Modules(const Graph& graph) {
        for (const ModuleInfo& module : graph.modules)
            if (!module.className.empty()) {
                m_called.insert(module.path);
                for (std::string_view path = module.path; !path.empty();)
                    m_outer.emplace(path = parentOf(path));
            }
    }

    /// The module itself, or what is around it when it is a list or holds no others: a change is seen in its
    /// surroundings.
    std::string scopeAround(std::string_view path) const {
        while (!path.empty() && !(m_called.contains(path) && m_outer.contains(path)))
            path = parentOf(path);
        return std::string(path);
    }

    void addBelow(std::string_view scope, std::string_view path, std::set<std::string>& paths) const {
        for (; path.size() > scope.size(); path = parentOf(path))
            if (m_called.contains(path))
                paths.emplace(path);
    }

private:
    std::set<std::string, std::less<>> m_called, m_outer;
};

} // namespace

std::string commonModule(std::string_view a, std::string_view b) {
    const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const bool wholeA = end == a.end() && (other == b.end() || *other == '.');
    const bool wholeB = other == b.end() && (end == a.end() || *end == '.');
    if (wholeA || wholeB)
        return std::string(wholeA ? a : b);
    const std::size_t dot = a.substr(0, static_cast<std::size_t>(end - a.begin())).rfind('.');
    return std::string(a.substr(0, dot == std::string_view::npos ? 0 : dot));
}

Correspondence::Correspondence(const Graph& canonical, const Analysis& analysis, const Rewritten& rewritten) {
    matchNodes(canonical, rewritten);
    matchValues(canonical, rewritten.graph);
    collectSteps(canonical, analysis, rewritten);
}

void Correspondence::matchNodes(const Graph& canonical, const Rewritten& rewritten) {
    std::vector<Entry>&original = m_nodes[0], &result = m_nodes[1];
    original.assign(canonical.nodes.size(), {});
    result.assign(rewritten.graph.nodes.size(), {});
    for (std::size_t site = 0; site < rewritten.outcomes.size(); ++site)
        for (const NodeId node : rewritten.outcomes[site].replacement)
            result[index(node)].site = static_cast<std::int32_t>(site);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const Node& node = rewritten.graph.nodes[i];
        Entry& entry = result[i];
        entry.partners = node.origins;
        entry.fate = entry.site < 0 ? Fate::kept : takesOver(canonical, node) ? Fate::merged : Fate::added;
        for (const NodeId origin : node.origins) {
            Entry& from = original[index(origin)];
            from.partners.push_back(static_cast<NodeId>(i));
            from.site = entry.site;
            from.fate = entry.site < 0 ? Fate::kept : Fate::merged;
        }
    }
}

void Correspondence::matchValues(const Graph& canonical, const Graph& rewritten) {
    std::vector<Entry>&original = m_values[0], &result = m_values[1];
    original.assign(canonical.values.size(), {});
    result.assign(rewritten.values.size(), {Fate::added, {}, -1});
    const auto join = [&](ValueId from, ValueId to, Fate fate) {
        original[index(from)].partners.push_back(to);
        result[index(to)].partners.push_back(from);
        original[index(from)].fate = result[index(to)].fate = fate;
    };
    std::unordered_map<std::string_view, ValueId> names, targets;
    for (std::size_t i = 0; i < canonical.values.size(); ++i)
        names.emplace(canonical.values[i].name, static_cast<ValueId>(i));
    for (const Input& input : canonical.inputs)
        targets.emplace(input.target, input.value);
    for (std::size_t i = 0; i < rewritten.values.size(); ++i)
        if (const auto same = names.find(rewritten.values[i].name); same != names.end())
            join(same->second, static_cast<ValueId>(i), Fate::kept);
    for (const Input& input : rewritten.inputs)
        if (input.derived && result[index(input.value)].partners.empty())
            for (const std::string& source : input.derived->sources)
                if (const auto from = targets.find(source); from != targets.end())
                    join(from->second, input.value, Fate::merged);
}

void Correspondence::collectSteps(const Graph& canonical, const Analysis& analysis,
                                  const Rewritten& rewritten) {
    const Modules modules(canonical);
    for (std::size_t site = 0; site < rewritten.outcomes.size(); ++site) {
        const SiteOutcome& outcome = rewritten.outcomes[site];
        if (outcome.state != SiteOutcome::State::applied || analysis.sites[site].nodes.empty())
            continue;
        RewriteStep step{site, analysis.sites[site].nodes, outcome.replacement, {}, {}};
        std::vector<std::string_view> paths;
        for (const NodeId node : step.original)
            paths.push_back(canonical.modulePath(node));
        for (const NodeId node : step.rewritten)
            paths.push_back(rewritten.graph.modulePath(node));
        step.scope = paths.front();
        for (const std::string_view path : paths)
            step.scope = commonModule(step.scope, path);
        step.scope = modules.scopeAround(step.scope);
        for (const std::string_view path : paths)
            modules.addBelow(step.scope, path, step.expanded);
        m_steps.push_back(std::move(step));
    }
    std::stable_sort(m_steps.begin(), m_steps.end(), [](const RewriteStep& a, const RewriteStep& b) {
        return a.original.front() < b.original.front();
    });
}

} // namespace workbench
