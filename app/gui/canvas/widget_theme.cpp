#include "app/gui/canvas/widget_theme.h"

#include <QtWidgets/QWidget>

namespace workbench::gui {

const Theme& themeOf(const QWidget& widget) {
    return widget.palette().color(QPalette::Window).lightness() < 128 ? Theme::darkOne() : Theme::light();
}

} // namespace workbench::gui
