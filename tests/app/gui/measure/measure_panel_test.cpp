#include "app/gui/measure/measure_panel.h"
#include "tests/app/gui/support/small_model.h"
#include "tests/app/session/norm_model.h"
#include "tests/support/temporary_folder.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QSettings>
#include <QtGui/QAction>
#include <QtTest/QTest>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPlainTextEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QTableView>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui::test {
namespace {

using workbench::test::fusedNormSession;

// What the fake worker does at that many new tokens.
constexpr int kDies = 13;
constexpr int kGoesOnUntilStopped = 14;

class MeasurePanelTest : public testing::Test {
protected:
    MeasurePanelTest() { open({"a", "b"}); }

    void open(const std::vector<std::string>& norms) {
        m_panel.reset();
        m_document = std::make_unique<Document>(Locations{});
        m_document->openSession(fusedNormSession(norms));
        EXPECT_TRUE(waitFor([this] { return m_document->state() == Document::State::ready; }));
        m_panel = std::make_unique<MeasurePanel>(*m_document, m_selection, nullptr);
        m_panel->resize(1000, 640);
        m_panel->show();
        child<QComboBox>("worker").setCurrentText(WORKBENCH_FAKE_WORKER);
        setLoad(4, 6);
    }
    template <class T>
    T& child(const char* name) {
        T* found = m_panel->findChild<T*>(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    void setLoad(int newTokens, int rounds) {
        child<QSpinBox>("promptTokens").setValue(8);
        child<QSpinBox>("newTokens").setValue(newTokens);
        child<QSpinBox>("rounds").setValue(rounds);
    }
    void click(const char* name) { QTest::mouseClick(&child<QPushButton>(name), Qt::LeftButton); }
    void measureToTheEnd() {
        click("start");
        EXPECT_TRUE(m_panel->running());
        EXPECT_TRUE(waitFor([this] { return !m_panel->running(); }));
    }
    QString text(const char* label) { return child<QLabel>(label).text(); }
    QString figure(int row, int column) {
        return child<QTableView>("figures").model()->index(row, column).data().toString();
    }
    std::size_t siteIndex(const std::string& id) {
        const auto& sites = m_document->analysis().sites;
        const auto found =
            std::find_if(sites.begin(), sites.end(), [&](const Site& site) { return site.id == id; });
        EXPECT_NE(found, sites.end()) << id;
        return static_cast<std::size_t>(found - sites.begin());
    }
    int roundsShown() { return figure(1, 1).isEmpty() ? 0 : 1; }

    Selection m_selection;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<MeasurePanel> m_panel;
    TemporaryDirectory m_folder;
};

TEST_F(MeasurePanelTest, OffersOnlyAStartAtFirst) {
    EXPECT_TRUE(child<QPushButton>("start").isEnabled());
    EXPECT_FALSE(child<QPushButton>("stop").isEnabled());
    EXPECT_FALSE(child<QAction>("saveMeasurement").isEnabled());
    EXPECT_FALSE(child<QLabel>("headline").isVisible());
}

TEST_F(MeasurePanelTest, MeasuresAndSaysWhatChanged) {
    measureToTheEnd();
    EXPECT_EQ(figure(1, 0), "100.0 (100.0 to 100.0)");
    EXPECT_EQ(figure(1, 1), "125.0 (125.0 to 125.0)");
    EXPECT_EQ(text("headline"), "Decode: 1.25 times as fast (1.25 to 1.25)");
    EXPECT_TRUE(text("aboutMeasurement").contains("8 prompt tokens"))
        << text("aboutMeasurement").toStdString();
    EXPECT_TRUE(text("measureNotice").isEmpty());
    child<QComboBox>("quantity").setCurrentIndex(1);
    EXPECT_TRUE(text("headline").contains("no difference beyond the spread"))
        << text("headline").toStdString();
}

TEST_F(MeasurePanelTest, StopWorksAtOnceAndKeepsWhatWasMeasured) {
    setLoad(kGoesOnUntilStopped, 2);
    click("start");
    ASSERT_TRUE(waitFor([this] { return roundsShown() > 0; }));
    QElapsedTimer time;
    time.start();
    click("stop");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    EXPECT_LT(time.elapsed(), 2000);
    EXPECT_TRUE(text("measureNotice").startsWith("Stopped after")) << text("measureNotice").toStdString();
    EXPECT_EQ(figure(1, 1), "125.0 (125.0 to 125.0)");
    EXPECT_TRUE(child<QPushButton>("start").isEnabled());
}

TEST_F(MeasurePanelTest, AWorkerThatDiesIsASentenceAndTheNextStartWorks) {
    setLoad(kDies, 5);
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").contains("memory")) << text("measureNotice").toStdString();
    EXPECT_TRUE(child<QLabel>("measureNotice").isVisible());
    EXPECT_EQ(figure(1, 0), "100.0 (100.0 to 100.0)");
    setLoad(4, 6);
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").isEmpty()) << text("measureNotice").toStdString();
    EXPECT_EQ(figure(1, 1), "125.0 (125.0 to 125.0)");
}

TEST_F(MeasurePanelTest, AWorkerThatIsNotThereIsNamed) {
    child<QComboBox>("worker").setCurrentText("/nowhere/worker");
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").contains("/nowhere/worker")) << text("measureNotice").toStdString();
    child<QComboBox>("worker").setCurrentText(WORKBENCH_FAKE_WORKER);
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").isEmpty()) << text("measureNotice").toStdString();
}

TEST_F(MeasurePanelTest, AsksTheWorkerWhatItIs) {
    click("askWorker");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    EXPECT_TRUE(text("aboutWorker").startsWith("2 threads")) << text("aboutWorker").toStdString();
    EXPECT_EQ(child<QComboBox>("device").currentData().toString(), "cpu");
}

TEST_F(MeasurePanelTest, ADeviceThatTheWorkerLacksIsSeenAndSaysWhy) {
    const auto& device = child<QComboBox>("device");
    const auto flags = [&](int row) { return device.model()->flags(device.model()->index(row, 0)); };
    ASSERT_EQ(device.count(), 2);
    EXPECT_EQ(device.itemText(1), "CUDA: ask the worker");
    EXPECT_FALSE(flags(1).testFlag(Qt::ItemIsEnabled));
    click("askWorker");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    EXPECT_EQ(device.itemText(1), "CUDA: the worker has none");
    EXPECT_FALSE(flags(1).testFlag(Qt::ItemIsEnabled));
    const QString why = device.itemData(1, Qt::ToolTipRole).toString();
    EXPECT_TRUE(why.contains("The worker says that it has: cpu.")) << why.toStdString();
    EXPECT_EQ(device.toolTip(), why);
    child<QComboBox>("worker").setCurrentText("another");
    QTest::keyClick(child<QComboBox>("worker").lineEdit(), Qt::Key_Return);
    EXPECT_EQ(device.itemText(1), "CUDA: ask the worker") << "that one was not asked";
}

TEST_F(MeasurePanelTest, ADeviceThatTheWorkerHasCanBeChosen) {
    child<QComboBox>("worker").setCurrentText(WORKBENCH_FAKE_WORKER " " WORKBENCH_VERSION " cuda");
    click("askWorker");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    auto& device = child<QComboBox>("device");
    ASSERT_EQ(device.count(), 2);
    EXPECT_EQ(device.itemText(1), "CUDA");
    EXPECT_TRUE(device.toolTip().contains("cpu, cuda")) << device.toolTip().toStdString();
    EXPECT_TRUE(device.model()->flags(device.model()->index(1, 0)).testFlag(Qt::ItemIsEnabled));
}

TEST_F(MeasurePanelTest, TheWorkerOfTheDocumentIsTheOneInTheForm) {
    m_document->setWorker("ssh gpubox workbench-worker");
    EXPECT_EQ(child<QComboBox>("worker").currentText(), "ssh gpubox workbench-worker");
    m_document->setWorker("");
    EXPECT_EQ(child<QComboBox>("worker").currentText(), "This computer");
    child<QComboBox>("worker").setCurrentText("mine");
    QTest::keyClick(child<QComboBox>("worker").lineEdit(), Qt::Key_Return);
    EXPECT_EQ(m_document->worker(), "mine") << "verifying uses it too";
}

TEST_F(MeasurePanelTest, AWorkerThatWasNamedIsNotReplacedByTheOneOfTheLastTime) {
    QSettings settings(QString::fromStdString((m_folder.path() / "state.ini").string()),
                       QSettings::IniFormat);
    child<QComboBox>("worker").setCurrentText("of the last time");
    m_panel->saveState(settings);
    open({"a"});
    m_document->setWorker("named");
    m_panel->restoreState(settings);
    EXPECT_EQ(m_document->worker(), "named");
    EXPECT_EQ(child<QComboBox>("worker").currentText(), "named");
}

TEST_F(MeasurePanelTest, OffersTheLoadsOfTheCommandLineWithTheirSizes) {
    auto& load = child<QComboBox>("load");
    for (const LoadKind kind : {LoadKind::single, LoadKind::decode, LoadKind::prefill, LoadKind::mixed}) {
        load.setCurrentIndex(-1); // also the first one is chosen
        load.setCurrentIndex(load.findData(static_cast<int>(kind)));
        const BenchLoad expected = loadOf(kind);
        EXPECT_EQ(child<QSpinBox>("promptTokens").value(), expected.promptTokens);
        EXPECT_EQ(child<QSpinBox>("newTokens").value(), expected.newTokens);
        EXPECT_EQ(child<QSpinBox>("concurrency").value(), expected.concurrency);
    }
    setLoad(4, 6);
    child<QSpinBox>("concurrency").setValue(2);
    measureToTheEnd();
    EXPECT_TRUE(text("aboutMeasurement").contains("2 requests at once"))
        << text("aboutMeasurement").toStdString();
    EXPECT_TRUE(text("headline").startsWith("Whole answer")) << text("headline").toStdString();
}

TEST_F(MeasurePanelTest, APromptAloneIsMeasuredByItsPrompt) {
    auto& load = child<QComboBox>("load");
    load.setCurrentIndex(load.findData(static_cast<int>(LoadKind::prefill)));
    child<QSpinBox>("rounds").setValue(6);
    measureToTheEnd();
    EXPECT_TRUE(text("headline").startsWith("Prompt: ")) << text("headline").toStdString();
    EXPECT_EQ(figure(1, 0), "none");
    child<QComboBox>("quantity").setCurrentIndex(0);
    EXPECT_TRUE(text("headline").contains("no such tokens")) << text("headline").toStdString();
}

TEST_F(MeasurePanelTest, MeasuresTheRequestsOfAFile) {
    auto& load = child<QComboBox>("load");
    load.setCurrentIndex(load.findData(static_cast<int>(LoadKind::trace)));
    EXPECT_TRUE(child<QLineEdit>("traceFile").isVisible());
    EXPECT_FALSE(child<QSpinBox>("promptTokens").isVisible());
    click("start");
    EXPECT_TRUE(text("measureNotice").contains("no file of requests")) << text("measureNotice").toStdString();
    const QString path = QString::fromStdString((m_folder.path() / "requests.jsonl").string());
    QFile file(path);
    ASSERT_TRUE(file.open(QFile::WriteOnly));
    file.write("{\"arrival_s\": 0, \"prompt_tokens\": 3, \"new_tokens\": 4}\nnonsense\n");
    file.close();
    child<QLineEdit>("traceFile").setText(path);
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").contains("requests.jsonl")) << text("measureNotice").toStdString();
    ASSERT_TRUE(file.open(QFile::WriteOnly));
    file.write("{\"arrival_s\": 0, \"prompt_tokens\": 3, \"new_tokens\": 4}\n");
    file.close();
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").isEmpty()) << text("measureNotice").toStdString();
    EXPECT_TRUE(text("aboutMeasurement").contains("1 request"));
}

TEST_F(MeasurePanelTest, SaysWhyThereIsNoHandWrittenCodeAndWhereTheTimeGoes) {
    measureToTheEnd();
    EXPECT_TRUE(text("measurementDetails").contains("No hand-written code: An archive has no config.json"))
        << text("measurementDetails").toStdString();
    EXPECT_GT(child<QTableView>("operatorTimes").model()->rowCount(), 2);
    child<QCheckBox>("native").setChecked(false);
    child<QCheckBox>("profile").setChecked(false);
    measureToTheEnd();
    EXPECT_FALSE(text("measurementDetails").contains("hand-written"));
    EXPECT_EQ(child<QTableView>("operatorTimes").model()->rowCount(), 0);
}

TEST_F(MeasurePanelTest, LeavesEachPatternOutAndTellsTheSitesTheirShare) {
    child<QCheckBox>("leaveOneOut").setChecked(true);
    measureToTheEnd();
    EXPECT_TRUE(child<QWidget>("patternBars").accessibleDescription().contains("rms-norm (2 sites): +25.0 %"))
        << child<QWidget>("patternBars").accessibleDescription().toStdString();
    const MeasuredGain* gain = m_document->gain(siteIndex("rms-norm@b"));
    ASSERT_NE(gain, nullptr);
    EXPECT_NEAR(gain->percent, 12.5, 1e-6);
}

TEST_F(MeasurePanelTest, NamesTheGuiltySiteAndLeadsToIt) {
    open({"a", "wrong", "b"});
    click("startBisect");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    EXPECT_EQ(text("bisectSentence"), "<a href=\"rms-norm@wrong\">rms-norm@wrong</a> makes it wrong");
    EXPECT_GE(child<QTableView>("bisectSteps").model()->rowCount(), 3);
    Q_EMIT child<QLabel>("bisectSentence").linkActivated("rms-norm@wrong");
    ASSERT_TRUE(m_selection.site().has_value());
    EXPECT_EQ(m_document->analysis().sites[*m_selection.site()].id, "rms-norm@wrong");
}

TEST_F(MeasurePanelTest, NamesTheSiteThatMakesItSlower) {
    open({"a", "slow", "b"});
    child<QComboBox>("bisectBy").setCurrentIndex(1);
    click("startBisect");
    ASSERT_TRUE(waitFor([this] { return !m_panel->running(); }));
    EXPECT_TRUE(text("bisectSentence").contains("rms-norm@slow")) << text("bisectSentence").toStdString();
}

TEST_F(MeasurePanelTest, OpensWhatItSaved) {
    measureToTheEnd();
    const QString file = QString::fromStdString((m_folder.path() / "bench.json").string());
    m_panel->saveReport(file);
    ASSERT_TRUE(waitFor([&] { return QFile::exists(file); }));
    open({"a"});
    m_panel->openReport(file);
    ASSERT_TRUE(waitFor([this] { return !figure(1, 1).isEmpty(); }));
    EXPECT_EQ(figure(1, 1), "125.0 (125.0 to 125.0)");
    EXPECT_TRUE(text("aboutMeasurement").startsWith("bench.json")) << text("aboutMeasurement").toStdString();
    EXPECT_TRUE(text("aboutMeasurement").contains("2 threads"));
}

/// Files of `workbench bench --json`, of a real model: with hand-written code and each pattern left out, and
/// of a model that there is no such code for.
QString fileOfTheCommandLine(const char* name) {
    return QStringLiteral(WORKBENCH_MEASUREMENTS "/") + name;
}

TEST_F(MeasurePanelTest, OpensWhatTheCommandLineWroteWithAllThatItHas) {
    m_panel->openReport(fileOfTheCommandLine("single.json"));
    ASSERT_TRUE(waitFor([this] { return !figure(2, 1).isEmpty(); })) << text("measureNotice").toStdString();
    EXPECT_TRUE(text("measureNotice").isEmpty()) << text("measureNotice").toStdString();
    EXPECT_EQ(text("aboutMeasurement"), "single.json · LlamaForCausalLM, bf16 · 16 prompt tokens · 6 new "
                                        "tokens · 6 rounds in turn · 2 threads, AVX2, PyTorch 2.11.0");
    constexpr int kOutput = 2;
    EXPECT_EQ(figure(kOutput, 0), "13.7 (11.2 to 17.8)");
    EXPECT_EQ(figure(kOutput, 1), "17.8 (14.2 to 22.1)");
    EXPECT_EQ(figure(kOutput, 2), "1.27× (0.98 to 1.96), within the spread");
    EXPECT_EQ(figure(kOutput, 3), "19.3 (16.1 to 24.9)");
    EXPECT_EQ(figure(kOutput, 4), "0.91× (0.88 to 0.97), slower");
    EXPECT_EQ(figure(6, 3), "36.9");
    const QString curves = child<QWidget>("speedCurves").accessibleDescription();
    EXPECT_TRUE(curves.contains("hand-written: median")) << curves.toStdString();
    const QString details = text("measurementDetails");
    EXPECT_TRUE(details.contains("16 of 16 greedy tokens equal")) << details.toStdString();
    EXPECT_TRUE(details.contains("Memory: ")) << details.toStdString();
    const QAbstractItemModel* times = child<QTableView>("operatorTimes").model();
    EXPECT_EQ(times->columnCount(), 3);
    EXPECT_EQ(times->headerData(1, Qt::Vertical).toString(), "products");
    EXPECT_TRUE(child<QWidget>("patternBars").accessibleDescription().contains("qkv (30 sites)"));
}

TEST_F(MeasurePanelTest, OpensAPromptOfTheCommandLineAndSaysWhyThereIsNoHandWrittenCode) {
    m_panel->openReport(fileOfTheCommandLine("prefill.json"));
    ASSERT_TRUE(waitFor([this] { return !figure(0, 1).isEmpty(); })) << text("measureNotice").toStdString();
    EXPECT_TRUE(text("headline").startsWith("Prompt: 4.45 times as fast")) << text("headline").toStdString();
    EXPECT_EQ(child<QTableView>("figures").model()->columnCount(), 3);
    EXPECT_EQ(figure(1, 0), "none");
    EXPECT_TRUE(text("measurementDetails").contains("this is a Qwen3MoeForCausalLM"))
        << text("measurementDetails").toStdString();
    EXPECT_TRUE(text("aboutMeasurement").contains("random weights"));
}

TEST_F(MeasurePanelTest, AFileThatIsNoMeasurementIsASentence) {
    const QString file = QString::fromStdString((m_folder.path() / "plan.json").string());
    QFile other(file);
    ASSERT_TRUE(other.open(QFile::WriteOnly));
    other.write("{\"schema\": 1, \"sites\": []}");
    other.close();
    m_panel->openReport(file);
    ASSERT_TRUE(waitFor([this] { return !text("measureNotice").isEmpty(); }));
    EXPECT_TRUE(text("measureNotice").contains("plan.json")) << text("measureNotice").toStdString();
}

TEST_F(MeasurePanelTest, SaysThatTheDecisionsAreOthersThanThoseMeasured) {
    measureToTheEnd();
    m_document->apply({siteIndex("rms-norm@a")}, Decision::reject, "reject");
    EXPECT_TRUE(text("measureNotice").contains("decisions have changed"));
    m_document->undo();
    EXPECT_TRUE(text("measureNotice").isEmpty());
}

TEST_F(MeasurePanelTest, SaysThatNothingIsAppliedButMeasures) {
    m_document->setDecisions({}, "reset");
    settle(*m_document);
    measureToTheEnd();
    EXPECT_TRUE(text("measureNotice").contains("Nothing is applied")) << text("measureNotice").toStdString();
    EXPECT_EQ(figure(1, 0), figure(1, 1));
}

TEST_F(MeasurePanelTest, RefusesTextsWithoutAPrompt) {
    child<QComboBox>("promptKind").setCurrentIndex(1);
    child<QPlainTextEdit>("prompts").setPlainText(" \n\n");
    click("start");
    EXPECT_FALSE(m_panel->running());
    EXPECT_TRUE(text("measureNotice").contains("no prompt")) << text("measureNotice").toStdString();
}

TEST_F(MeasurePanelTest, RemembersWhatWasEntered) {
    QSettings settings(QString::fromStdString((m_folder.path() / "state.ini").string()),
                       QSettings::IniFormat);
    setLoad(21, 7);
    measureToTheEnd(); // a worker that answered stays in the list
    m_panel->saveState(settings);
    open({"a"});
    m_panel->restoreState(settings);
    EXPECT_EQ(child<QSpinBox>("newTokens").value(), 21);
    EXPECT_EQ(child<QSpinBox>("rounds").value(), 7);
    EXPECT_EQ(child<QComboBox>("worker").currentText(), WORKBENCH_FAKE_WORKER);
    EXPECT_GT(child<QComboBox>("worker").findText(WORKBENCH_FAKE_WORKER), 0);
}

TEST_F(MeasurePanelTest, PutsFiguresBesideTheCurvesInAFlatDock) {
    const auto& splitter = child<QSplitter>("resultsSplitter");
    m_panel->resize(900, 760);
    EXPECT_EQ(splitter.orientation(), Qt::Vertical);
    m_panel->resize(1400, 400);
    EXPECT_EQ(splitter.orientation(), Qt::Horizontal);
}

TEST_F(MeasurePanelTest, EveryControlHasANameForScreenReaders) {
    for (const QWidget* widget : m_panel->findChildren<QWidget*>()) {
        const bool isControl = qobject_cast<const QSpinBox*>(widget) ||
                               qobject_cast<const QComboBox*>(widget) ||
                               qobject_cast<const QTableView*>(widget);
        if (isControl) {
            EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->objectName().toStdString();
        }
    }
}

} // namespace
} // namespace workbench::gui::test
