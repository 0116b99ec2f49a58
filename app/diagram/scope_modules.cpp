#include "app/diagram/scope_modules.h"

#include "core/graph/module_path.h"

#include <algorithm>
#include <unordered_map>

namespace workbench {
namespace {

constexpr std::size_t kLeastRepeats = 3;
constexpr std::int32_t kLongestPeriod = 8;

std::string_view parentPath(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

/// -1: not a number.
std::int64_t number(std::string_view name) {
    return isNumberPart(name) ? std::stoll(std::string(name)) : -1;
}

/// The module tree by path; a module that was folded is found through the first one of its kind.
class Alikes {
public:
    explicit Alikes(const ModuleTree& tree) { add(tree); }

    /// The tree's entry for a path, nullptr where it has none.
    const ModuleTree* find(const std::string& path) {
        if (const auto known = m_found.find(path); known != m_found.end())
            return known->second;
        const ModuleTree* entry = nullptr;
        if (const auto own = m_entries.find(path); own != m_entries.end())
            entry = own->second;
        else if (!path.empty())
            if (const ModuleTree* parent = find(std::string(parentPath(path))))
                entry = childOf(*parent, std::string(lastPart(path)));
        m_found.emplace(path, entry);
        return entry;
    }

private:
    void add(const ModuleTree& entry) {
        for (const std::string& path : entry.paths)
            m_entries.emplace(path, &entry);
        m_entries.emplace(entry.path, &entry);
        for (const ModuleTree& child : entry.children)
            add(child);
    }
    const ModuleTree* childOf(const ModuleTree& parent, const std::string& name) const {
        const auto found = m_entries.find(parent.path.empty() ? name : parent.path + "." + name);
        return found == m_entries.end() ? nullptr : found->second;
    }

    std::unordered_map<std::string, const ModuleTree*> m_entries, m_found;
};

/// How many modules from `start` on repeat with a period, in whole periods.
std::size_t covered(const std::vector<std::string_view>& kinds, std::size_t start, std::size_t period) {
    std::size_t length = 0;
    while (start + length + period < kinds.size() && kinds[start + length] == kinds[start + length + period])
        ++length;
    const std::size_t repeats = (length + period) / period;
    return start + period <= kinds.size() && repeats >= kLeastRepeats ? repeats * period : 0;
}

struct Run {
    std::size_t start, length;
    std::int32_t period;
};

std::vector<Run> runsOf(const std::vector<std::string_view>& kinds, std::int32_t longestPeriod) {
    std::vector<Run> runs;
    for (std::size_t start = 0; start < kinds.size();) {
        Run best{start, 1, 1};
        for (std::int32_t period = 1; period <= longestPeriod; ++period)
            if (const std::size_t length = covered(kinds, start, static_cast<std::size_t>(period));
                length > best.length)
                best = {start, length, period};
        runs.push_back(best);
        start += best.length;
    }
    return runs;
}

} // namespace

std::string_view relativePath(std::string_view path, std::string_view ancestor) {
    if (ancestor.empty() || !isWithin(path, ancestor) || path.size() == ancestor.size())
        return path;
    return path.substr(ancestor.size() + 1);
}

ScopeModules::ScopeModules(const Graph& graph, const ModuleTree& tree, const std::string& scope)
    : m_scope(scope), m_moduleOfNode(graph.nodes.size(), -1) {
    std::vector<char> owns(graph.modules.size(), 0);
    for (const Node& node : graph.nodes)
        if (node.module != kNone)
            owns[at(node.module)] = 1;
    Called called;
    for (std::size_t i = 0; i < graph.modules.size(); ++i)
        if (!graph.modules[i].className.empty() || owns[i])
            called.emplace(graph.modules[i].path, &graph.modules[i]);
    const auto own = called.find(scope);
    m_modules.push_back({scope, own == called.end() ? std::string() : own->second->className});
    m_byPath.emplace(scope, 0);

    std::vector<std::int32_t> indexOf(graph.modules.size(), -2);
    for (NodeId id = 0; at(id) < graph.nodes.size(); ++id) {
        const std::int32_t module = graph.node(id).module;
        std::int32_t index = scope.empty() ? 0 : -1;
        if (module != kNone) {
            if (indexOf[at(module)] == -2)
                indexOf[at(module)] = isWithin(graph.modules[at(module)].path, scope)
                                          ? add(graph.modules[at(module)].path, called)
                                          : -1;
            index = indexOf[at(module)];
        }
        m_moduleOfNode[at(id)] = index;
        for (; index >= 0; index = m_modules[at(index)].parent)
            ++m_modules[at(index)].nodes;
    }
    if (m_modules.front().nodes == 0)
        m_modules.clear();
    else
        describe(tree);
}

/// The module's index; the ancestors come first. Children are in the order of their first nodes.
std::int32_t ScopeModules::add(const std::string& module, const Called& called) {
    std::vector<std::string> missing;
    std::string path = module;
    for (; !m_byPath.contains(path); path = std::string(parentPath(path)))
        if (called.contains(path))
            missing.push_back(path);
    std::int32_t index = m_byPath.find(path)->second;
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
        const auto child = static_cast<std::int32_t>(m_modules.size());
        m_modules.push_back({*next, called.at(*next)->className, {}, index});
        m_modules[at(index)].children.push_back(child);
        m_byPath.emplace(*next, child);
        index = child;
    }
    return index;
}

void ScopeModules::describe(const ModuleTree& tree) {
    Alikes alikes(tree);
    for (ScopeModule& module : m_modules) {
        const ModuleTree* entry = alikes.find(module.path);
        module.alike = entry ? entry->path : module.path;
        module.parameterBytes = entry ? entry->parameterBytes : 0;
    }
}

std::int32_t ScopeModules::find(std::string_view path) const {
    const auto found = m_byPath.find(path);
    return found == m_byPath.end() ? -1 : found->second;
}

/// The groups of a list's modules, single ones included.
std::vector<ModuleGroup> ScopeModules::groupsOfList(std::vector<std::int32_t> members,
                                                    std::int64_t foldedFrom) const {
    std::sort(members.begin(), members.end(), [&](std::int32_t a, std::int32_t b) {
        return number(lastPart((*this)[a].path)) < number(lastPart((*this)[b].path));
    });
    std::vector<std::string_view> kinds;
    for (const std::int32_t member : members)
        kinds.push_back((*this)[member].alike);
    std::vector<Run> runs = runsOf(kinds, 1);
    if (static_cast<std::int64_t>(runs.size()) >= foldedFrom)
        runs = runsOf(kinds, kLongestPeriod);
    std::vector<ModuleGroup> groups;
    for (const Run& run : runs) {
        const auto first = members.begin() + static_cast<std::ptrdiff_t>(run.start);
        ModuleGroup group{{first, first + static_cast<std::ptrdiff_t>(run.length)}, run.period, {}};
        group.key = (*this)[group.members.front()].path;
        if (group.folded())
            group.key += "-" + std::string(lastPart((*this)[group.members.back()].path));
        groups.push_back(std::move(group));
    }
    return groups;
}

std::vector<ModuleGroup> ScopeModules::groups(std::int32_t module, std::int64_t foldedFrom) const {
    std::map<std::string_view, std::vector<std::int32_t>> lists; // numbered siblings
    for (const std::int32_t child : (*this)[module].children)
        if (number(lastPart((*this)[child].path)) >= 0)
            lists[parentPath((*this)[child].path)].push_back(child);
    std::map<std::int32_t, ModuleGroup> groupOf; // by its first member
    std::vector<char> isLater(m_modules.size(), 0);
    for (auto& [list, members] : lists) {
        if (static_cast<std::int64_t>(members.size()) < foldedFrom)
            continue;
        for (ModuleGroup& group : groupsOfList(std::move(members), foldedFrom)) {
            for (std::size_t i = 1; i < group.members.size(); ++i)
                isLater[at(group.members[i])] = 1;
            const std::int32_t first = group.members.front();
            groupOf.emplace(first, std::move(group));
        }
    }
    std::vector<ModuleGroup> groups;
    for (const std::int32_t child : (*this)[module].children) {
        if (const auto group = groupOf.find(child); group != groupOf.end())
            groups.push_back(group->second);
        else if (!isLater[at(child)])
            groups.push_back({{child}, 1, (*this)[child].path});
    }
    return groups;
}

} // namespace workbench
