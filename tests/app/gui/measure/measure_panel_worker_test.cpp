#include "tests/app/gui/measure/measure_panel_fixture.h"

#include <QtCore/QSettings>
#include <QtWidgets/QLineEdit>

/// The worker that measures: which one, what it has, and that it dies.

namespace workbench::gui::test {
namespace {

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

} // namespace
} // namespace workbench::gui::test
