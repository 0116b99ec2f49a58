#include "app/gui/inspector/module_page.h"

#include "app/gui/document/state_text.h"
#include "app/gui/inspector/markup.h"
#include "app/gui/inspector/node_page.h"
#include "app/session/summary.h"

#include <algorithm>
#include <map>

namespace workbench::gui {
namespace {

constexpr int kMostParameters = 40, kMostOps = 10;
constexpr std::size_t kMostChildren = 16, kMostSites = 6;

/// Every module on the way to the path.
std::vector<ModuleInfo> wayTo(const Graph& graph, const std::string& path) {
    std::vector<ModuleInfo> way;
    for (const ModuleInfo& module : graph.modules)
        if (isWithin(path, module.path))
            way.push_back(module);
    std::sort(way.begin(), way.end(),
              [](const ModuleInfo& a, const ModuleInfo& b) { return a.path.size() < b.path.size(); });
    return way;
}

QString lastPart(const std::string& path) {
    return qt(path).section('.', -1);
}

} // namespace

ModulePage::ModulePage(const std::string& path, const std::string& weight, const PageContext& context,
                       QWidget* parent)
    : Page(context, parent) {
    const InspectedModule module = evidence().inspection().module(path);
    const QString title = path.empty() ? document().title() : lastPart(path);
    addTitle(title.toHtmlEscaped(),
             escaped(module.module.className) + "<br>" + pathLinks(wayTo(graph(), path)));
    addText(tr("%L1 nodes, %L2 parameters, %3")
                .arg(module.nodes)
                .arg(module.parameterCount)
                .arg(qt(bytesText(double(module.parameterBytes)))));
    addTimes([&](NodeId node) { return isWithin(graph().modulePath(node), path); });
    if (!module.children.empty()) {
        const auto childLink = [](const ModuleInfo& child) {
            return moduleLink(child.path, lastPart(child.path).toHtmlEscaped()) + ' ' +
                   muted(escaped(child.className));
        };
        addText(firstOf(module.children, kMostChildren, childLink), addSection(tr("Modules"), "children"));
    }
    addFusion(module);
    addParameters(module, weight);
    QList<QStringList> ops;
    for (const auto& [op, count] : module.ops)
        if (ops.size() < kMostOps)
            ops << QStringList{escaped(op), QString("%L1").arg(count)};
    if (!ops.isEmpty())
        addText(table({}, ops), addSection(tr("Most frequent ops"), "ops"));
    if (!path.empty())
        addForward(path, {});
    finish();
}

void ModulePage::addFusion(const InspectedModule& module) {
    if (module.sites.empty())
        return;
    Section* section = addSection(tr("Fusion"), "fusion");
    std::map<std::string, std::map<SiteOutcome::State, int>> counts;
    for (const std::size_t site : module.sites)
        ++counts[analysis().sites[site].pattern][document().outcome(site).state];
    QList<QStringList> rows;
    for (const auto& [pattern, states] : counts) {
        QStringList texts;
        for (const auto& [state, count] : states)
            texts << QString("%1 %2").arg(count).arg(stateText(state));
        rows << QStringList{escaped(pattern), texts.join(", ")};
    }
    addText(table({}, rows), section);
    addText(firstOf(module.sites, kMostSites, [&](std::size_t site) { return siteLink(analysis(), site); }),
            section);
}

void ModulePage::addParameters(const InspectedModule& module, const std::string& weight) {
    if (module.parameters.empty())
        return;
    Section* section = addSection(tr("Parameters"), "weights");
    QStringList lines; // one below the other: names are long, and the dock is narrow
    const std::string& path = module.module.path;
    for (const Input* input : module.parameters) {
        if (lines.size() == kMostParameters)
            break;
        const std::string_view name =
            std::string_view(input->target).substr(path.empty() ? 0 : path.size() + 1);
        lines << link("weight:" + qt(input->target), escaped(name)) + "<br>" +
                     muted(type(graph().value(input->value).meta) + QStringLiteral(", ") +
                           qt(bytesText(double(evidence().inspection().storedBytes(*input)))));
    }
    addText(lines.join(QStringLiteral("<br>")), section);
    if (module.parameters.size() > kMostParameters)
        addText(muted(tr("and %n more", nullptr, int(module.parameters.size()) - kMostParameters)), section);
    for (const Input* input : module.parameters)
        if (input->target == weight)
            addWeight(section, *input);
    if (weight.empty())
        addText(muted(tr("Choose one to see its numbers.")), section);
}

} // namespace workbench::gui
