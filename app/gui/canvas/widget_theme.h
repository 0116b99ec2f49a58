#pragma once

#include "app/draw/theme.h"

class QWidget;

namespace workbench::gui {

/// The drawing's colours that go with a widget's palette.
const Theme& themeOf(const QWidget& widget);

} // namespace workbench::gui
