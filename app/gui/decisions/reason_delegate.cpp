#include "app/gui/decisions/reason_delegate.h"

namespace workbench::gui {

void ReasonDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!m_model.other(m_filter.mapToSource(index).row()))
        return;
    option->font.setUnderline(true);
    option->palette.setColor(QPalette::Text, option->palette.color(QPalette::Link));
}

} // namespace workbench::gui
