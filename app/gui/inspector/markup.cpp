#include "app/gui/inspector/markup.h"

#include <QtCore/QCoreApplication>
#include <QtGui/QGuiApplication>
#include <QtGui/QPalette>

namespace workbench::gui {

QString escaped(std::string_view text) {
    return qt(text).toHtmlEscaped();
}

QString link(const QString& target, const QString& text) {
    return QString("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text);
}

QString nodeLink(const Graph& graph, NodeId node) {
    const Node& made = graph.node(node);
    const std::string& name = made.outputs.empty() ? made.op : graph.value(made.outputs.front()).name;
    return link("node:" + QString::number(node), escaped(name));
}

QString moduleLink(const std::string& path, const QString& text) {
    return link("module:" + qt(path), text);
}

QString siteLink(const Analysis& analysis, std::size_t site) {
    return link("site:" + QString::number(site), escaped(analysis.sites[site].id));
}

QString table(const QStringList& heads, const QList<QStringList>& rows) {
    QString text = "<table cellspacing=\"0\" cellpadding=\"2\" width=\"100%\">";
    const auto row = [&](const QStringList& cells, bool head) {
        text += "<tr>";
        for (int i = 0; i < cells.size(); ++i)
            text +=
                QString("<td style=\"padding-right: 10px\">%1</td>").arg(head ? muted(cells[i]) : cells[i]);
        text += "</tr>";
    };
    if (!heads.isEmpty())
        row(heads, true);
    for (const QStringList& cells : rows)
        row(cells, false);
    return text + "</table>";
}

QString marked(const QList<std::pair<QString, QString>>& points) {
    QString text = "<table cellspacing=\"0\" cellpadding=\"2\" width=\"100%\">";
    for (const auto& [mark, point] : points)
        text += QString("<tr><td width=\"16\">%1</td><td>%2</td></tr>").arg(mark, point);
    return text + "</table>";
}

QString muted(const QString& text) {
    const QColor colour = QGuiApplication::palette().color(QPalette::PlaceholderText);
    QColor solid = colour;
    solid.setAlpha(255);
    const QColor base = QGuiApplication::palette().color(QPalette::Base);
    const double share = colour.alphaF();
    solid.setRgbF(float(colour.redF() * share + base.redF() * (1 - share)),
                  float(colour.greenF() * share + base.greenF() * (1 - share)),
                  float(colour.blueF() * share + base.blueF() * (1 - share)));
    return QString("<span style=\"color: %1\">%2</span>").arg(solid.name(), text);
}

QString listed(const QStringList& pieces, std::size_t all) {
    const QString text = pieces.join(", ");
    const int more = static_cast<int>(all) - static_cast<int>(pieces.size());
    return more <= 0
               ? text
               : text + " " + muted(QCoreApplication::translate("inspector", "and %n more", nullptr, more));
}

} // namespace workbench::gui
