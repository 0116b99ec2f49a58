#include "app/gui/decisions/sites_model.h"
#include "app/gui/measure/measure_panel.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/app/gui/support/user.h"
#include "tests/app/gui/window/small_moe.h"
#include "tests/app/gui/window/storyboard.h"

#include <QtCore/QFile>
#include <QtGui/QAction>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPlainTextEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QTableView>
#include <QtWidgets/QToolButton>

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <thread>

/// What the window does with the real tracer and the real worker, by mouse and keyboard: measuring with every
/// pattern off in turn, files of measurements, the search for a guilty site, other workers, the rewritten
/// source; and what it says when those processes are killed.

namespace workbench::gui::test {
namespace {

constexpr int kSeconds = 300;

/// Processes that descend from this one and have the word in their command.
std::vector<pid_t> descendants(const std::string& word) {
    std::map<pid_t, pid_t> parents;
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        std::ifstream status(entry.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("PPid:"))
                parents[std::stoi(name)] = std::stoi(line.substr(5));
    }
    for (const auto& [process, parent] : parents) {
        pid_t above = parent;
        while (above > 1 && above != ::getpid())
            above = parents.contains(above) ? parents[above] : 0;
        std::ifstream command("/proc/" + std::to_string(process) + "/cmdline");
        const std::string words{std::istreambuf_iterator<char>(command), {}};
        if (above == ::getpid() && words.find(word) != std::string::npos)
            found.push_back(process);
    }
    return found;
}

class RealHelpers : public Storyboard {
protected:
    void openSmallMoe() {
        std::filesystem::create_directory(folder() / "small-moe");
        writeFile("small-moe/config.json", kSmallMoe);
        openModel(path("small-moe"), kSeconds);
    }
    void applyAll() {
        clickOn(part<QPushButton>("overview", "applyAll"));
        settle(document());
    }
    void openAndApplyAll() {
        openSmallMoe();
        if (!HasFatalFailure())
            applyAll();
    }
    QString path(const char* name) const { return QString::fromStdString((folder() / name).string()); }
    void chooseWorker(const QString& command) {
        auto* worker = part<QComboBox>("measure", "worker");
        worker->lineEdit()->setFocus();
        worker->lineEdit()->selectAll();
        typeText(command);
    }
    void ask() {
        clickOn(part<QPushButton>("measure", "askWorker"));
        waitForJob(kSeconds);
    }
    void setLoad(int newTokens, int rounds) {
        enterNumber(part<QSpinBox>("measure", "promptTokens"), 8);
        enterNumber(part<QSpinBox>("measure", "newTokens"), newTokens);
        enterNumber(part<QSpinBox>("measure", "rounds"), rounds);
    }
    std::string notice() const { return text("measure", "measureNotice").toStdString(); }
    void showTab(const char* title) {
        auto* tabs = part<QTabWidget>("measure", "measureTabs");
        int index = tabs->count() - 1;
        while (index > 0 && tabs->tabText(index) != title)
            --index;
        EXPECT_EQ(tabs->tabText(index), title);
        tabs->setCurrentIndex(index);
    }
};

TEST_F(RealHelpers, TheWorkerIsAskedAndAnotherCommandStartsIt) {
    if (!runs())
        GTEST_SKIP() << "the worker is not built";
    openSmallMoe();
    if (HasFatalFailure())
        return;
    ask();
    EXPECT_TRUE(text("measure", "aboutWorker").contains("PyTorch 2.")) << notice();
    const auto* device = part<QComboBox>("measure", "device");
    EXPECT_GE(device->findData("cpu"), 0);
    // As `ssh host workbench-worker`: a command with words that ends in the worker.
    writeFile("elsewhere", "#!/bin/sh\nshift\nexec \"" + std::string(WORKBENCH_EXECUTABLES) + "/$1\"\n");
    std::filesystem::permissions(folder() / "elsewhere", std::filesystem::perms::owner_all);
    chooseWorker(path("elsewhere") + " gpubox workbench-worker");
    ask();
    EXPECT_EQ(notice(), "");
    EXPECT_EQ(document().worker(), path("elsewhere") + " gpubox workbench-worker");
    setLoad(4, 2);
    applyAll();
    clickOn(part<QPushButton>("measure", "start"));
    waitForJob(kSeconds);
    EXPECT_TRUE(text("measure", "headline").startsWith("Decode:")) << notice();
    // Commands that are no worker are sentences, and the next start is a worker again.
    for (const QString& wrong : {path("nowhere"), QString("false"), QString("echo hello")}) {
        chooseWorker(wrong);
        ask();
        EXPECT_NE(notice(), "") << wrong.toStdString();
        EXPECT_EQ(document().state(), Document::State::ready);
    }
    chooseWorker("This computer");
    ask();
    EXPECT_EQ(notice(), "");
}

TEST_F(RealHelpers, EachPatternIsSwitchedOffInTurnAndTheFileOpensAgain) {
    if (!runs())
        GTEST_SKIP() << "the worker is not built";
    openAndApplyAll();
    if (HasFatalFailure())
        return;
    setLoad(4, 2);
    auto* leaveOneOut = part<QCheckBox>("measure", "leaveOneOut");
    leaveOneOut->setFocus();
    pressKey(Qt::Key_Space);
    ASSERT_TRUE(leaveOneOut->isChecked());
    clickOn(part<QPushButton>("measure", "start"));
    waitForJob(2 * kSeconds);
    EXPECT_EQ(notice(), "");
    std::size_t gains = 0;
    for (std::size_t i = 0; i < document().analysis().sites.size(); ++i)
        if (document().outcome(i).state == SiteOutcome::State::applied)
            gains += document().gain(i) != nullptr;
    EXPECT_GT(gains, 10U) << "every applied site has its share";
    auto* save = tab().workspace()->panel("measure")->findChild<QAction*>("saveMeasurement");
    ASSERT_TRUE(save->isEnabled());
    answerFileDialog(path("bench.json"));
    save->trigger();
    ASSERT_TRUE(waitFor([&] { return QFile::exists(path("bench.json")) && !document().working(); }));
    const auto* figures = part<QTableView>("measure", "figures");
    const QString speed = figures->model()->index(0, 1).data().toString();
    ASSERT_FALSE(speed.isEmpty());
    answerFileDialog(path("bench.json"));
    tab().workspace()->panel("measure")->findChild<QAction*>("openMeasurement")->trigger();
    ASSERT_TRUE(waitFor([&] { return text("measure", "aboutMeasurement").startsWith("bench.json"); }))
        << notice();
    EXPECT_EQ(figures->model()->index(0, 1).data().toString(), speed);
    // A file that is none says so, and what is shown stays.
    writeFile("none.json", "{\"schema\": 99}");
    answerFileDialog(path("none.json"));
    tab().workspace()->panel("measure")->findChild<QAction*>("openMeasurement")->trigger();
    ASSERT_TRUE(waitFor([&] { return !notice().empty(); }));
    EXPECT_NE(notice().find("none.json"), std::string::npos) << notice();
    EXPECT_EQ(figures->model()->index(0, 1).data().toString(), speed);
}

TEST_F(RealHelpers, TheSearchForAGuiltySiteFindsNoneWhereNumbersAreRightAndCanBeStopped) {
    if (!runs())
        GTEST_SKIP() << "the worker is not built";
    openSmallMoe();
    if (HasFatalFailure())
        return;
    showTab("Guilty site");
    clickOn(part<QPushButton>("measure", "startBisect"));
    waitForJob(kSeconds);
    EXPECT_TRUE(text("measure", "bisectSentence").contains("nothing is applied"))
        << text("measure", "bisectSentence").toStdString();
    applyAll();
    clickOn(part<QPushButton>("measure", "startBisect"));
    waitForJob(kSeconds);
    EXPECT_TRUE(text("measure", "bisectSentence").contains("no site is guilty"))
        << text("measure", "bisectSentence").toStdString();
    EXPECT_GT(part<QTableView>("measure", "bisectSteps")->model()->rowCount(), 0);
    part<QComboBox>("measure", "bisectBy")->setCurrentIndex(1);
    setLoad(32, 5000);
    clickOn(part<QPushButton>("measure", "startBisect"));
    ASSERT_TRUE(document().busy());
    QTest::qWait(1500);
    clickOn(part<QPushButton>("measure", "stop"));
    waitForJob(20);
    EXPECT_EQ(text("measure", "bisectSentence"), "Stopped.");
}

TEST_F(RealHelpers, AWorkerThatIsKilledWhileItMeasuresIsASentenceAndTheNextOneWorks) {
    if (!runs())
        GTEST_SKIP() << "the worker is not built";
    openAndApplyAll();
    if (HasFatalFailure())
        return;
    const Decisions decided = document().session().decisions();
    setLoad(8, 9999);
    clickOn(part<QPushButton>("measure", "start"));
    ASSERT_TRUE(
        waitFor([&] { return !text("measure", "headline").isEmpty() || !document().busy(); }, kSeconds));
    ASSERT_TRUE(document().busy()) << notice();
    const std::vector<pid_t> workers = descendants("workbench-worker");
    ASSERT_FALSE(workers.empty());
    for (const pid_t worker : workers)
        ::kill(worker, SIGKILL);
    waitForJob(20);
    EXPECT_NE(notice().find("memory runs out"), std::string::npos) << notice();
    EXPECT_EQ(document().session().decisions(), decided);
    setLoad(4, 2);
    clickOn(part<QPushButton>("measure", "start"));
    waitForJob(kSeconds);
    EXPECT_EQ(notice(), "");
}

TEST_F(RealHelpers, ATracerThatIsKilledIsAPageThatTriesAgain) {
    std::filesystem::create_directory(folder() / "small-moe");
    writeFile("small-moe/config.json", kSmallMoe);
    answerFileDialog(path("small-moe"));
    pressKey(Qt::Key_O, Qt::ControlModifier);
    ModelTab* opened = window().currentTab();
    ASSERT_NE(opened, nullptr);
    std::vector<pid_t> tracers;
    ASSERT_TRUE(waitFor([&] { return !(tracers = descendants("workbench_tracer")).empty(); }, 60));
    for (const pid_t tracer : tracers)
        ::kill(tracer, SIGKILL);
    ASSERT_TRUE(waitFor([&] { return opened->document().state() == Document::State::failed; }, 60));
    auto* again = opened->findChild<QPushButton*>("tryAgain");
    ASSERT_TRUE(again && again->isVisible());
    EXPECT_FALSE(opened->findChild<QLabel*>("errorMessage")->text().isEmpty());
    clickOn(again);
    waitUntilReady(kSeconds);
}

TEST_F(RealHelpers, TheRewrittenForwardIsShownBesideTheOriginal) {
    openAndApplyAll();
    if (HasFatalFailure())
        return;
    const auto& sites = document().analysis().sites;
    std::size_t site = 0;
    while (site < sites.size() &&
           (sites[site].pattern != "qkv" || document().outcome(site).state != SiteOutcome::State::applied))
        ++site;
    ASSERT_LT(site, sites.size());
    clickOn(part<QTableView>("decisions", "sites"), rowOf(site, SitesModel::kPlace));
    const auto find = [&](const char* name) {
        return tab().workspace()->panel("inspector")->findChild<QWidget*>(name);
    };
    tab().workspace()->showPanel("inspector");
    ASSERT_TRUE(waitFor([&] { return find("makeForms") != nullptr; }));
    qobject_cast<QPushButton*>(find("makeForms"))->setFocus();
    pressKey(Qt::Key_Space);
    ASSERT_TRUE(waitFor([&] { return find("diff") != nullptr; }, kSeconds));
    const QString shown = qobject_cast<QPlainTextEdit*>(find("diff"))->toPlainText();
    EXPECT_TRUE(shown.contains("q_proj")) << shown.toStdString();
    EXPECT_TRUE(shown.contains("workbench")) << shown.toStdString();
}

} // namespace
} // namespace workbench::gui::test
