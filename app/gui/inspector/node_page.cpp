#include "app/gui/inspector/node_page.h"

#include "app/gui/document/state_text.h"
#include "app/gui/inspector/markup.h"
#include "app/session/summary.h"

namespace workbench::gui {
namespace {

constexpr std::size_t kMostLinks = 8;

QString linksTo(const Graph& graph, const std::vector<NodeId>& nodes) {
    return firstOf(nodes, kMostLinks, [&](NodeId node) { return nodeLink(graph, node); });
}

QString kindOf(Input::Kind kind) {
    switch (kind) {
    case Input::Kind::user:
        return NodePage::tr("input of the model");
    case Input::Kind::parameter:
        return NodePage::tr("parameter");
    case Input::Kind::buffer:
        return NodePage::tr("buffer");
    case Input::Kind::constant:
        return NodePage::tr("constant");
    }
    return {};
}

} // namespace

QString pathLinks(const std::vector<ModuleInfo>& modules) {
    QStringList parts;
    std::string parent;
    for (const ModuleInfo& module : modules) {
        const std::size_t known = parent.empty() ? 0 : parent.size() + 1;
        const QString name = module.path.empty() ? escaped(module.className)
                                                 : escaped(std::string_view(module.path).substr(known));
        parts << moduleLink(module.path, name.isEmpty() ? NodePage::tr("model") : name);
        parent = module.path;
    }
    return parts.join(QString::fromUtf8(" \u203a "));
}

NodePage::NodePage(NodeId node, const PageContext& context, QWidget* parent) : Page(context, parent) {
    const InspectedNode inspected = evidence().inspection().node(node);
    const QString title =
        inspected.outputs.empty() ? qt(inspected.op) : qt(inspected.outputs.front().argument);
    addTitle(title.toHtmlEscaped(), escaped(inspected.op) + "<br>" + pathLinks(inspected.modules));
    addTimes([node](NodeId other) { return other == node; });
    addInputs(inspected);
    addOutputs(inspected);
    if (!inspected.attributes.empty()) {
        QList<QStringList> rows;
        for (const auto& [name, value] : inspected.attributes)
            rows << QStringList{muted(escaped(name)), escaped(value)};
        addText(table({}, rows), addSection(tr("Attributes"), "attributes"));
    }
    addSites(inspected);
    addWeights(inspected);
    addSource(node);
    finish();
}

void NodePage::addInputs(const InspectedNode& node) {
    Section* section = addSection(tr("Inputs"), "inputs");
    QList<QStringList> rows;
    for (const InspectedValue& value : node.inputs) {
        QString from = value.producer != kNone ? nodeLink(graph(), value.producer) : QString();
        if (value.input) {
            from = escaped(value.input->target) + "<br>" + muted(kindOf(value.input->kind));
            if (!value.users.empty())
                from += muted(", ") + muted(tr("also read by")) + ' ' + linksTo(graph(), value.users);
        }
        QString what = type(graph().value(value.value).meta);
        if (value.storedBytes >= 0)
            what += "<br>" + muted(qt(bytesText(double(value.storedBytes))));
        rows << QStringList{muted(escaped(value.argument)), from, what};
    }
    addText(rows.isEmpty() ? muted(tr("It reads no tensor.")) : table({}, rows), section);
}

void NodePage::addOutputs(const InspectedNode& node) {
    QList<QStringList> rows;
    for (const InspectedValue& value : node.outputs) {
        QStringList users;
        if (!value.users.empty())
            users << linksTo(graph(), value.users);
        if (value.isResult)
            users << tr("a result of the model");
        rows << QStringList{escaped(value.argument),
                            users.isEmpty() ? muted(tr("nobody reads it"))
                                            : tr("to %1").arg(users.join(", ")),
                            type(graph().value(value.value).meta)};
    }
    addText(table({}, rows), addSection(tr("Outputs"), "outputs"));
}

void NodePage::addSites(const InspectedNode& node) {
    if (node.sites.empty())
        return;
    QList<QStringList> rows;
    for (const std::size_t site : node.sites)
        rows << QStringList{siteLink(analysis(), site), stateText(document().outcome(site).state)};
    addText(table({}, rows), addSection(tr("Fusion"), "fusion"));
}

void NodePage::addWeights(const InspectedNode& node) {
    Section* section = nullptr;
    for (const InspectedValue& value : node.inputs) {
        if (!value.input || value.input->kind == Input::Kind::user)
            continue;
        if (!section)
            section = addSection(tr("Weights"), "weights");
        addWeight(section, *value.input);
    }
}

} // namespace workbench::gui
