#include "app/gui/canvas/canvas_panel.h"
#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"
#include "app/session/verify.h"
#include "tests/support/own_milliseconds.h"

#include <QtCore/QTemporaryDir>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QPushButton>

#include <cstdio>
#include <fstream>
#include <string>

/// How long the window's event loop is kept from turning while a model is opened, shown, decided, proven and
/// closed: `window_bench EXECUTABLES MODEL...`, with the folder that has workbench-layout and
/// workbench-worker. The exit code is 1 when a limit is passed.

namespace {

using namespace workbench;
using namespace workbench::gui;

constexpr double kLimit = 50; // ms of one event; DESIGN.md
constexpr int kOpenSeconds = 600;
constexpr int kMeasureMs = 10'000;

/// Class, name, and those of what it belongs to.
QByteArray nameOf(const QObject* object) {
    QByteArray name = object->metaObject()->className() + QByteArray(" ") + object->objectName().toUtf8();
    if (object->parent() && object->objectName().isEmpty())
        name += QByteArray("of ") + object->parent()->metaObject()->className() + " " +
                object->parent()->objectName().toUtf8();
    return name.trimmed();
}

/// Times every event that is not part of another one.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override {
        if (m_depth++ > 0) {
            const bool handled = QApplication::notify(receiver, event);
            --m_depth;
            return handled;
        }
        const QByteArray name = nameOf(receiver);
        const int type = event->type();
        const double start = ownMilliseconds();
        const bool handled = QApplication::notify(receiver, event);
        --m_depth;
        if (const double took = ownMilliseconds() - start; took > m_longest) {
            m_longest = took;
            m_where = name + " event " + QByteArray::number(type);
        }
        return handled;
    }
    bool report(const char* what) {
        std::printf("  %-34s longest event %7.1f ms, limit %.0f ms  (%s)\n", what, m_longest, kLimit,
                    m_where.constData());
        std::fflush(stdout);
        const bool held = m_longest <= kLimit;
        m_longest = 0;
        m_where.clear();
        return held;
    }

private:
    int m_depth = 0;
    double m_longest = 0;
    QByteArray m_where;
};

void rest(ModelTab* tab) {
    for (int quiet = 0; quiet < 5; quiet = tab->document().working() ? 0 : quiet + 1)
        QTest::qWait(100);
}

std::vector<std::size_t> applicable(const Document& document) {
    std::vector<std::size_t> sites;
    for (std::size_t i = 0; i < document.analysis().sites.size(); ++i)
        if (document.analysis().sites[i].verdict == SiteVerdict::applicable)
            sites.push_back(i);
    return sites;
}

bool decide(TimedApplication& application, ModelTab* tab) {
    Document& document = tab->document();
    const std::vector<std::size_t> sites = applicable(document);
    document.apply(sites, Decision::apply, "all");
    rest(tab);
    document.undo();
    document.redo();
    rest(tab);
    bool held = application.report("apply all, undo, redo");
    for (const std::size_t site : sites) {
        tab->selection().selectSite(site, document.analysis().sites[site].module);
        if (site % 16 == 0)
            tab->selection().reveal();
        QTest::qWait(1);
    }
    rest(tab);
    return application.report("go through the sites") && held;
}

bool verify(TimedApplication& application, ModelTab* tab) {
    bool done = false;
    tab->document().run<VerifyReport>(
        tab, "verify",
        [](Session& session, Runtime& runtime, const Job& job) {
            return verifySession(session, runtime, {}, job);
        },
        [&](const Result<VerifyReport>& report) {
            done = true;
            if (!report)
                std::printf("  verify: %s\n", report.error().message.c_str());
        });
    while (!done)
        QTest::qWait(50);
    rest(tab);
    return application.report("verify");
}

/// Live curves included: the panel is in sight.
bool measure(TimedApplication& application, ModelTab* tab) {
    tab->workspace()->showPanel("measure");
    QWidget* panel = tab->workspace()->panel("measure");
    panel->findChild<QPushButton*>("start")->click();
    QTest::qWait(kMeasureMs);
    panel->findChild<QPushButton*>("stop")->click();
    rest(tab);
    return application.report("measure, then stop");
}

/// Every module of the model in one drawing.
bool openEverything(TimedApplication& application, ModelTab* tab) {
    tab->workspace()->showPanel("canvas");
    auto& pane = dynamic_cast<CanvasPanel*>(tab->workspace()->panel("canvas"))->pane();
    pane.openScope({});
    rest(tab);
    application.report("back to the whole model");
    pane.setAllExpanded(true);
    for (int i = 0; i < kOpenSeconds && pane.busy(); ++i)
        QTest::qWait(1000);
    rest(tab);
    std::printf("  %zu boxes in one drawing\n", pane.scene() ? pane.scene()->boxes.size() : 0);
    const bool held = application.report("open everything");
    pane.setAllExpanded(false);
    rest(tab);
    return held;
}

/// MiB that are resident now, and the most so far.
void printMemory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS") || line.starts_with("VmHWM"))
            std::printf("  %s\n", line.c_str());
}

bool benchModel(TimedApplication& application, MainWindow& window, const char* model, bool runs) {
    std::printf("%s\n", model);
    OpenRequest request;
    request.model = QString::fromLocal8Bit(model);
    ModelTab* tab = window.openModel(request);
    if (!QTest::qWaitFor([&] { return tab->document().state() != Document::State::opening; },
                         kOpenSeconds * 1000) ||
        tab->document().state() != Document::State::ready) {
        std::printf("  could not be opened: %s\n",
                    tab->document().error() ? tab->document().error()->message.c_str() : "");
        return false;
    }
    rest(tab);
    std::printf("  %zu nodes, %zu sites\n", tab->document().graph().nodes.size(),
                tab->document().analysis().sites.size());
    bool held = application.report("open and first drawing");
    printMemory();
    for (const QString& id : tab->workspace()->ids()) {
        tab->workspace()->showPanel(id);
        rest(tab);
    }
    held = application.report("show each panel") && held;
    held = decide(application, tab) && held;
    if (runs) {
        held = verify(application, tab) && held;
        held = measure(application, tab) && held;
    }
    held = openEverything(application, tab) && held;
    printMemory();
    window.resize(2560, 1440);
    rest(tab);
    held = application.report("resize") && held;
    return held;
}

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const QTemporaryDir home;
    qputenv("XDG_CONFIG_HOME", home.path().toLocal8Bit());
    TimedApplication application(argc, argv);
    QApplication::setOrganizationName("window-bench");
    if (argc < 3) {
        std::fprintf(stderr, "usage: window_bench EXECUTABLES MODEL...\n");
        return 2;
    }
    Locations locations = Locations::find();
    locations.executables = argv[1];
    Appearance appearance;
    MainWindow window(locations, appearance);
    window.show();
    bool held = true;
    for (int i = 2; i < argc; ++i)
        held = benchModel(application, window, argv[i],
                          std::filesystem::exists(locations.executables / "workbench-worker")) &&
               held;
    std::fflush(stdout);
    return held ? 0 : 1;
}
