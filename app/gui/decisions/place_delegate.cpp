#include "app/gui/decisions/place_delegate.h"

#include <QtCore/QRegularExpression>
#include <QtWidgets/QApplication>

namespace workbench::gui {

QString shortPlace(const QString& path, const QFontMetrics& metrics, int width) {
    if (metrics.horizontalAdvance(path) <= width)
        return path;
    static const QRegularExpression number(R"(\.(?=\d+(\.|$)))");
    const qsizetype dot = path.indexOf(number);
    if (dot < 0)
        return metrics.elidedText(path, Qt::ElideLeft, width);
    const QString fromLayer = path.mid(dot + 1);
    const QString dots = QStringLiteral("…");
    const int room = width - metrics.horizontalAdvance(dots);
    return metrics.horizontalAdvance(fromLayer) <= room
               ? metrics.elidedText(path, Qt::ElideLeft, width)
               : dots + metrics.elidedText(fromLayer, Qt::ElideMiddle, room);
}

void PlaceDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const QStyle* style = option->widget ? option->widget->style() : QApplication::style();
    const int room = style->subElementRect(QStyle::SE_ItemViewItemText, option, option->widget).width();
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
    option->text = shortPlace(option->text, option->fontMetrics, room - 2 * margin);
}

} // namespace workbench::gui
