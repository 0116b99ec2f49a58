#pragma once

#include "core/graph/graph.h"
#include "core/graph/module_path.h"
#include "core/graph/module_tree.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// A module below a scope that has nodes. Those that are never called themselves (lists of layers) are left
/// out: their children belong to the module around them.
struct ScopeModule {
    std::string path;
    std::string className;
    std::string alike;                  ///< equal for modules that the module tree folds
    std::int32_t parent = -1;           ///< index; 0 is the scope
    std::vector<std::int32_t> children; ///< in the order of their first nodes
    std::int64_t nodes = 0;             ///< submodules included
    std::int64_t parameterBytes = 0;    ///< submodules included
};

/// Siblings that are drawn as one box, or a single one.
struct ModuleGroup {
    std::vector<std::int32_t> members;
    std::int32_t period = 1; ///< so many different ones take turns
    std::string key;         ///< "model.layers.0-27"; of a single one its path
    bool folded() const { return members.size() > 1; }
};

class ScopeModules {
public:
    ScopeModules(const Graph& graph, const ModuleTree& tree, const std::string& scope);

    bool empty() const { return m_modules.empty(); }
    const ScopeModule& operator[](std::int32_t index) const { return m_modules[at(index)]; }
    /// -1: outside of the scope.
    std::int32_t moduleOf(NodeId node) const { return m_moduleOfNode[at(node)]; }
    std::int32_t find(std::string_view path) const; ///< -1: none

    /// The children of a module; alike ones in a row as one group when `foldedFrom` or more of them have
    /// numbers for names.
    std::vector<ModuleGroup> groups(std::int32_t module, std::int64_t foldedFrom) const;

private:
    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
    using Called = std::map<std::string_view, const ModuleInfo*>;
    std::int32_t add(const std::string& module, const Called& called);
    void describe(const ModuleTree& tree);
    std::vector<ModuleGroup> groupsOfList(std::vector<std::int32_t> members, std::int64_t foldedFrom) const;

    std::string m_scope;
    std::vector<ScopeModule> m_modules;
    std::map<std::string, std::int32_t, std::less<>> m_byPath;
    std::vector<std::int32_t> m_moduleOfNode;
};

/// "self_attn.q_proj" for "model.layers.0.self_attn.q_proj" below "model.layers.0".
std::string_view relativePath(std::string_view path, std::string_view ancestor);

} // namespace workbench
