#include "app/gui/decisions/reason_delegate.h"

namespace workbench::gui {

void ReasonDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideRight; // a sentence, not a path: it is read from its beginning
    if (!m_model.other(m_filter.mapToSource(index).row()))
        return;
    option->font.setUnderline(true);
    option->palette.setColor(QPalette::Text, option->palette.color(QPalette::Link));
}

} // namespace workbench::gui
