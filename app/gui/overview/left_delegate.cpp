#include "app/gui/overview/left_delegate.h"

#include "app/gui/overview/left_model.h"

#include <QtGui/QPainter>
#include <QtWidgets/QApplication>

#include <utility>

namespace workbench::gui {
namespace {

constexpr int kMargin = 3;     // above and below
constexpr int kInset = 10;     // left and right
constexpr int kNarrowest = 80; // names are cut there

} // namespace

QSize LeftDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {kNarrowest, 2 * option.fontMetrics.height() + 2 * kMargin};
}

void LeftDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                         const QModelIndex& index) const {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    const QString name = std::exchange(option.text, QString());
    const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);

    const bool isSelected = option.state & QStyle::State_Selected;
    const auto colour = [&](QPalette::ColorRole role) {
        return option.palette.color(isSelected ? QPalette::HighlightedText : role);
    };
    const int height = option.fontMetrics.height();
    const QRect first = QRect(option.rect.left(), option.rect.top() + kMargin, option.rect.width(), height)
                            .adjusted(kInset, 0, -kInset, 0);
    const QString state = index.siblingAtColumn(LeftModel::state).data().toString();
    const int stateWidth = option.fontMetrics.horizontalAdvance(state);
    painter->save();
    painter->setFont(option.font);
    painter->setPen(colour(QPalette::PlaceholderText));
    painter->drawText(first, Qt::AlignRight | Qt::AlignVCenter, state);
    // A reason is a sentence, read from its beginning.
    painter->drawText(first.translated(0, height), Qt::AlignLeft | Qt::AlignVCenter,
                      option.fontMetrics.elidedText(index.siblingAtColumn(LeftModel::why).data().toString(),
                                                    Qt::ElideRight, first.width()));
    painter->setPen(colour(QPalette::Text));
    painter->drawText(
        first, Qt::AlignLeft | Qt::AlignVCenter,
        option.fontMetrics.elidedText(name, Qt::ElideMiddle, first.width() - stateWidth - kInset));
    painter->restore();
}

} // namespace workbench::gui
