#pragma once

#include "app/gui/document/document.h"

class QCommandLineParser;

namespace workbench::gui {

struct WindowRequest {
    std::vector<OpenRequest> open; ///< empty: the models of the last time
    TraceOptions trace;            ///< where `open` is empty: of each model that the window opens
    QString worker;                ///< of each model of the window; empty: the one beside this program
    QString workerModel;           ///< the one model's directory where that worker runs; empty: as here
    QString screenshots;           ///< a folder: takes pictures of the one model, and ends
};

void addWindowOptions(QCommandLineParser& parser);
/// What the parsed words ask for. An Error is of wrong usage: a value that is none, or an option that needs
/// the one MODEL which is not named.
Result<WindowRequest> windowRequest(const QCommandLineParser& parser);

} // namespace workbench::gui
