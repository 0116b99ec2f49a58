#include "app/cli/report.h"
#include "core/graph/module_tree.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace workbench::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Patterns of the sites that were found in each module.
using SitesByModule = std::map<std::string, std::set<std::string>>;

SitesByModule foundSites(const Session& session) {
    SitesByModule found;
    for (const Site& site : session.model().analysis.sites)
        if (site.verdict != SiteVerdict::refused)
            found[site.module].insert(site.pattern);
    return found;
}

std::string bytesText(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
        value /= 1024;
    std::string text = std::to_string(static_cast<std::int64_t>(value * 10 + 0.5));
    text.insert(text.size() - 1, text.size() == 1 ? "0." : ".");
    return text + " " + units[unit];
}

void printModule(std::ostream& out, const ModuleTree& module, const SitesByModule& sites,
                 const std::string& indent) {
    out << indent << (module.label.empty() ? "model" : module.label);
    if (!module.className.empty())
        out << " " << module.className;
    if (module.count > 1)
        out << " x" << module.count;
    if (module.parameterBytes > 0)
        out << "  " << bytesText(module.parameterBytes) << (module.count > 1 ? " each" : "");
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

Json moduleJson(const ModuleTree& module) {
    Json children = Json::array();
    for (const ModuleTree& child : module.children)
        children.push_back(moduleJson(child));
    return {{"label", module.label},          {"path", module.path},
            {"class", module.className},      {"count", module.count},
            {"nodes", module.nodes},          {"parameter_bytes", module.parameterBytes},
            {"children", std::move(children)}};
}

} // namespace

void printTree(std::ostream& out, const Session& session) {
    printModule(out, buildModuleTree(session.model().canonical), foundSites(session), "");
}

Json treeJson(const Session& session) {
    return moduleJson(buildModuleTree(session.model().canonical));
}

} // namespace workbench::cli
