#pragma once

#include "app/gui/document/document.h"

class QApplication;

namespace workbench::gui {

struct WindowRequest {
    std::vector<OpenRequest> open; ///< empty: the models of the last time
    QString worker;
    QString workerModel; ///< the model's directory where that worker runs; empty: as here
    QString screenshots; ///< a folder: takes pictures of the one model, and ends
};

/// Shows the window until it is closed; the exit code. Errors of screenshots are printed.
int runWindow(QApplication& application, const WindowRequest& request);

} // namespace workbench::gui
