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

TraceDtype dtypeOf(const QString& name) {
    if (name == "f32" || name == "float32")
        return TraceDtype::f32;
    return name == "bf16" || name == "bfloat16" ? TraceDtype::bf16 : TraceDtype::automatic;
}

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
    parser.addPositionalArgument("MODEL", "Directories, .pt2 archives or org/name[@revision]", "[MODEL...]");
    parser.addOptions({{"plan", "Start from the decisions of a saved plan.", "file"},
                       {"dtype", "Compute in f32, bf16 or the checkpoint's own type.", "type", "auto"},
                       {"trust-remote-code", "Run the Python code that the model brings."},
                       {"time-limit", "Seconds after which tracing is given up.", "seconds", "0"},
                       {"worker", "Command of the worker.", "command"},
                       {"worker-model", "The model's directory where that worker runs.", "folder"},
                       {"screenshots", "Write pictures of each panel into a folder, and end.", "folder"}});
    parser.process(application);

    gui::WindowRequest request;
    request.worker = parser.value("worker");
    request.workerModel = parser.value("worker-model");
    request.screenshots = parser.value("screenshots");
    for (const QString& model : parser.positionalArguments()) {
        gui::OpenRequest open;
        open.model = model;
        open.plan = parser.value("plan");
        open.trace.dtype = dtypeOf(parser.value("dtype"));
        open.trace.trustRemoteCode = parser.isSet("trust-remote-code");
        open.trace.timeLimit = std::chrono::seconds(parser.value("time-limit").toLongLong());
        request.open.push_back(open);
    }
    if (!request.screenshots.isEmpty() && request.open.size() != 1)
        return usage("--screenshots takes pictures of one MODEL: name it");
    return gui::runWindow(application, request);
}
