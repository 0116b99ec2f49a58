#include "app/cli/report.h"
#include "core/graph/module_tree.h"

#include <map>
#include <set>

namespace workbench::cli {
namespace {

/// Patterns of the sites that were found in each module.
using SitesByModule = std::map<std::string, std::set<std::string>>;

SitesByModule foundSites(const Session& session) {
    SitesByModule found;
    for (const Site& site : session.model().analysis.sites)
        if (site.verdict != SiteVerdict::refused)
            found[site.module].insert(site.pattern);
    return found;
}

void printModule(std::ostream& out, const ModuleTree& module, const SitesByModule& sites,
                 const std::string& indent) {
    out << indent << (module.label.empty() ? "model" : module.label);
    if (!module.className.empty())
        out << " " << module.className;
    if (module.count > 1)
        out << " x" << module.count;
    if (module.parameterBytes > 0)
        out << "  " << memoryText(module.parameterBytes) << (module.count > 1 ? " each" : "");
    std::set<std::string> patterns;
    for (const std::string& path : module.paths)
        if (const auto found = sites.find(path); found != sites.end())
            patterns.insert(found->second.begin(), found->second.end());
    std::string list;
    for (const std::string& pattern : patterns)
        list += (list.empty() ? "" : ", ") + pattern;
    out << (list.empty() ? "" : "  [" + list + "]") << '\n';
    for (const ModuleTree& child : module.children)
        printModule(out, child, sites, indent + "  ");
}

} // namespace

void printTree(std::ostream& out, const Session& session) {
    printModule(out, buildModuleTree(session.model().canonical), foundSites(session), "");
}

} // namespace workbench::cli
