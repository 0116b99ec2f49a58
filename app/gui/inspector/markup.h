#pragma once

#include "app/diagram/type_text.h"
#include "app/gui/document/qt_text.h"
#include "core/graph/graph.h"
#include "fusion/site.h"

#include <QtCore/QString>
#include <QtCore/QStringList>

#include <string_view>

/// Small pieces of rich text with links that the panel follows: "node:12", "module:model.layers.0", "site:3".

namespace workbench::gui {

QString escaped(std::string_view text);
QString link(const QString& target, const QString& text);

/// "linear_3", linked.
QString nodeLink(const Graph& graph, NodeId node);
QString moduleLink(const std::string& path, const QString& text);
QString siteLink(const Analysis& analysis, std::size_t site);

/// Rows of cells; the cells are rich text. `heads` may be empty. The first column is as narrow as it can be.
QString table(const QStringList& heads, const QList<QStringList>& rows);
/// Points of a list, each with a mark of its own before it.
QString marked(const QList<std::pair<QString, QString>>& points);
QString muted(const QString& text);
/// The pieces joined by commas, then how many more of `all` there are.
QString listed(const QStringList& pieces, std::size_t all);

/// The first `most` things, each as text; models have thousands of them.
template <class Things, class Text>
QString firstOf(const Things& things, std::size_t most, const Text& text) {
    QStringList pieces;
    for (std::size_t i = 0; i < things.size() && i < most; ++i)
        pieces << text(things[i]);
    return listed(pieces, things.size());
}

} // namespace workbench::gui
