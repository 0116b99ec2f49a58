#include "app/gui/window/run_window.h"

#include "app/gui/window/screenshots.h"
#include "app/gui/window/translations.h"

#include <QtCore/QTemporaryDir>
#include <QtCore/QTextStream>
#include <QtGui/QIcon>
#include <QtWidgets/QApplication>

#include <cstdio>

/// Resources of a static library; the macro wants no namespace around it.
static void initResources() {
    Q_INIT_RESOURCE(window);
}

namespace workbench::gui {
namespace {

int takeScreenshots(const WindowRequest& request, MainWindow& window, const Locations& locations,
                    Appearance& appearance) {
    int exitCode = 0;
    Screenshots screenshots(window, locations, appearance, request.screenshots);
    window.show();
    screenshots.take(window.openModel(request.open.front()), [&](const std::optional<Error>& error) {
        QTextStream(stdout) << screenshots.written().join('\n') << '\n';
        if (error) {
            QTextStream(stderr) << "workbench: " << QString::fromStdString(error->message) << '\n';
            exitCode = error->code == ErrorCode::cannotTrace ? 4 : 3;
        }
        // Not quit(): that closes the windows, which ask about unsaved decisions.
        QMetaObject::invokeMethod(
            qApp, [] { QCoreApplication::exit(); }, Qt::QueuedConnection);
    });
    QApplication::exec();
    return exitCode;
}

} // namespace

int runWindow(QApplication& application, const WindowRequest& request) {
    const bool pictures = !request.screenshots.isEmpty();
    // Pictures are the same whatever the user did to the window before.
    QTemporaryDir apart;
    if (pictures) {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, apart.path());
    }
    initResources();
    installTranslations(application, QLocale());
    QApplication::setWindowIcon(QIcon(":/fusion-workbench.svg"));
    Appearance appearance;
    const Locations locations = Locations::find();
    MainWindow window(locations, appearance);
    window.setWorker(request.worker);
    if (request.open.empty())
        window.setTrace(request.trace);
    if (pictures)
        return takeScreenshots(request, window, locations, appearance);
    window.show();
    for (const OpenRequest& model : request.open)
        window.openModel(model)->document().setWorkerModel(request.workerModel);
    if (request.open.empty())
        window.reopenLast();
    window.showUnsaved();
    return QApplication::exec();
}

} // namespace workbench::gui
