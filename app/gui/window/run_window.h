#pragma once

#include "app/gui/window/window_options.h"

class QApplication;

namespace workbench::gui {

/// Shows the window until it is closed; the exit code. Errors of screenshots are printed.
int runWindow(QApplication& application, const WindowRequest& request);

} // namespace workbench::gui
