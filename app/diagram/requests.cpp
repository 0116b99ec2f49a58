#include "app/diagram/diagram.h"
#include "app/diagram/scope_modules.h"

#include <algorithm>

namespace workbench {
namespace {

constexpr std::int64_t kFewBoxes = 4;
constexpr std::int64_t kLargeShareInPercent = 60;

/// The only child that nearly everything is in, when the module itself would show little; -1: none.
std::int32_t bulkOf(const ScopeModules& modules, std::int32_t module, const DiagramRequest& request) {
    const std::vector<ModuleGroup> groups = modules.groups(module, request.foldedFrom);
    std::int64_t inChildren = 0;
    for (const std::int32_t child : modules[module].children)
        inChildren += modules[child].nodes;
    const std::int64_t boxes = static_cast<std::int64_t>(groups.size()) + modules[module].nodes - inChildren;
    if (boxes > kFewBoxes)
        return -1;
    for (const ModuleGroup& group : groups)
        if (!group.folded() &&
            modules[group.members.front()].nodes * 100 >= modules[module].nodes * kLargeShareInPercent)
            return group.members.front();
    return -1;
}

} // namespace

DiagramRequest initialRequest(const Graph& graph, const ModuleTree& tree, const std::string& scope) {
    DiagramRequest request;
    request.scope = scope;
    const ScopeModules modules(graph, tree, scope);
    if (modules.empty())
        return request;
    for (std::int32_t module = bulkOf(modules, 0, request); module >= 0;
         module = bulkOf(modules, module, request))
        if (modules[module].nodes > 1)
            request.expanded.insert(modules[module].path);
    return request;
}

DiagramRequest revealModule(const Graph& graph, const ModuleTree& tree, DiagramRequest request,
                            const std::string& path) {
    if (!isWithin(path, request.scope))
        request.scope.clear();
    const ScopeModules modules(graph, tree, request.scope);
    std::int32_t module = modules.empty() ? -1 : modules.find(path);
    // The module's own box shows when all around it are open.
    for (; module > 0; module = modules[module].parent) {
        const std::int32_t parent = modules[module].parent;
        if (parent > 0)
            request.expanded.insert(modules[parent].path);
        for (const ModuleGroup& group : modules.groups(parent, request.foldedFrom))
            if (group.folded() &&
                std::find(group.members.begin(), group.members.end(), module) != group.members.end())
                request.expanded.insert(group.key);
    }
    return request;
}

DiagramRequest revealNode(const Graph& graph, const ModuleTree& tree, DiagramRequest request, NodeId node) {
    const std::string path(graph.modulePath(node));
    request = revealModule(graph, tree, std::move(request), path);
    const ScopeModules modules(graph, tree, request.scope);
    const std::int32_t module = modules.empty() ? -1 : modules.moduleOf(node);
    if (module > 0 && modules[module].nodes > 1)
        request.expanded.insert(modules[module].path);
    return request;
}

std::int32_t boxOf(const Diagram& diagram, NodeId node) {
    std::int32_t found = -1; // parents come first: the last one is the innermost
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
        if (const std::vector<NodeId>& nodes = diagram.boxes[i].nodes;
            std::binary_search(nodes.begin(), nodes.end(), node))
            found = static_cast<std::int32_t>(i);
    return found;
}

std::vector<std::string> breadcrumbs(const Graph& graph, const std::string& scope) {
    std::vector<std::string> path{""};
    for (std::size_t end = scope.empty() ? std::string::npos : scope.find('.'); !scope.empty();
         end = scope.find('.', end + 1)) {
        const std::string part = scope.substr(0, end);
        const bool called =
            std::any_of(graph.modules.begin(), graph.modules.end(), [&](const ModuleInfo& module) {
                return module.path == part && !module.className.empty();
            });
        if (called || part == scope)
            path.push_back(part);
        if (end == std::string::npos)
            break;
    }
    return path;
}

} // namespace workbench
