#include "app/draw/headless.h"

#include <QGuiApplication>

namespace workbench {

void startHeadlessDrawing() {
    if (QCoreApplication::instance())
        return;
    qputenv("QT_QPA_PLATFORM", "offscreen"); // whatever the session has: a picture needs no display
    if (qEnvironmentVariableIsEmpty("QT_LOGGING_RULES"))
        qputenv("QT_LOGGING_RULES", "default.warning=false"); // such as a missing XDG_RUNTIME_DIR
    // Qt keeps references to both until the end of the process.
    static int count = 1;
    static char name[] = "workbench";
    static char* arguments[] = {name, nullptr};
    static const QGuiApplication application(count, arguments);
}

} // namespace workbench
