#include "core/plan/plan.h"

#include <map>

namespace workbench {
namespace {

using Sites = std::map<std::string_view, const PlanSite*>;

Sites byId(const FusionPlan& plan) {
    Sites sites;
    for (const PlanSite& site : plan.sites)
        sites.emplace(site.id, &site);
    return sites;
}

void changed(std::vector<std::string>& lines, const std::string& what, const std::string& a,
             const std::string& b) {
    if (a != b)
        lines.push_back(what + ": " + a + " -> " + b);
}

void diffSite(std::vector<std::string>& lines, const PlanSite& a, const PlanSite& b) {
    changed(lines, a.id, a.state, b.state);
    if (a.state == b.state) {
        changed(lines, a.id + ": decision", a.decision, b.decision);
        changed(lines, a.id + ": with", a.with, b.with);
        changed(lines, a.id + ": reason", a.reason, b.reason);
    }
    changed(lines, a.id + ": note", a.note, b.note);
    if (a.facts != b.facts)
        lines.push_back(a.id + ": its facts differ");
    if (a.parameters != b.parameters)
        lines.push_back(a.id + ": its parameters differ");
}

} // namespace

std::vector<std::string> diffPlans(const FusionPlan& a, const FusionPlan& b) {
    std::vector<std::string> lines;
    changed(lines, "model", a.model.className + " " + a.model.dtype, b.model.className + " " + b.model.dtype);
    changed(lines, "fingerprint", a.fingerprint, b.fingerprint);
    const Sites before = byId(a);
    const Sites after = byId(b);
    for (const PlanSite& site : a.sites) {
        const auto found = after.find(site.id);
        if (found == after.end())
            lines.push_back(site.id + ": " + site.state + " -> (no such site)");
        else
            diffSite(lines, site, *found->second);
    }
    for (const PlanSite& site : b.sites)
        if (!before.contains(site.id))
            lines.push_back(site.id + ": (no such site) -> " + site.state);
    return lines;
}

} // namespace workbench
