#pragma once

#include <QtWidgets/QStyledItemDelegate>

namespace workbench::gui {

/// A row of what is left in two lines: its name with its state, below it the reason.
class LeftDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

} // namespace workbench::gui
