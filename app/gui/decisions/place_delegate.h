#pragma once

#include <QtGui/QFontMetrics>
#include <QtWidgets/QStyledItemDelegate>

namespace workbench::gui {

/// The path of a module in so many pixels: what goes first is what stands before the layer's number
/// ("...12.post_attention_layernorm"), then the middle of the rest, so that layers are told apart.
QString shortPlace(const QString& path, const QFontMetrics& metrics, int width);

/// Draws the place of a site as shortPlace() says.
class PlaceDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

} // namespace workbench::gui
