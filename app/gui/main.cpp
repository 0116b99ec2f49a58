#include "app/gui/window/run_window.h"

#include <QtCore/QCommandLineParser>
#include <QtCore/QTextStream>
#include <QtGui/QIcon>
#include <QtWidgets/QApplication>

#include <csignal>
#include <cstdio>

/// workbench-window: what `workbench` starts where a display is there. A program of its own, so that the
/// command line loads no Qt Widgets.

namespace {

using namespace workbench;

int usage(const QString& sentence) {
    QTextStream(stderr) << "workbench: " << sentence << '\n';
    return 2;
}

/// A platform is tried after the other, so that a display that cannot be reached is said, not died of.
void choosePlatforms(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (QByteArray(argv[i]).startsWith("--screenshots"))
            qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM",
                qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ? "wayland;xcb;minimal" : "xcb;minimal");
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a helper that dies is an error of its own
    choosePlatforms(argc, argv);
    QApplication::setOrganizationName("fusion-workbench");
    QApplication::setApplicationName("window");
    QApplication::setApplicationVersion(WORKBENCH_VERSION);
    QApplication::setDesktopFileName("fusion-workbench");
    QApplication application(argc, argv);
    QApplication::setApplicationDisplayName(QApplication::translate("window", "Fusion Workbench"));
    if (QApplication::platformName() == "minimal")
        return usage("the display cannot be reached: start it in a desktop session, or use the commands "
                     "without a window "
                     "(`workbench --help`)");

    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addVersionOption();
    gui::addWindowOptions(parser);
    parser.process(application);

    auto request = gui::windowRequest(parser);
    if (!request)
        return usage(QString::fromStdString(request.error().message));
    return gui::runWindow(application, *request);
}
