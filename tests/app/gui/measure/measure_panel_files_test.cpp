#include "tests/app/gui/measure/measure_panel_fixture.h"

#include <QtCore/QFile>

/// Measurements in files, of this panel and of the command line.

namespace workbench::gui::test {
namespace {

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

TEST_F(MeasurePanelTest, SaysWhatTheWeightsOfAFileAreIn) {
    auto report = readBench(fileOfTheCommandLine("single.json").toStdString());
    ASSERT_TRUE(report) << report.error().message;
    report->load.weights = "int8";
    report->products["after"] = {{"stored", {{"matrices", 2}, {"bytes", 3000000}}}};
    const auto file = m_folder.path() / "int8.json";
    ASSERT_TRUE(writeBench(*report, file));
    m_panel->openReport(QString::fromStdString(file.string()));
    ASSERT_TRUE(waitFor([this] { return !figure(2, 1).isEmpty(); })) << text("measureNotice").toStdString();
    EXPECT_TRUE(text("aboutMeasurement").contains(" · weights in int8 · "))
        << text("aboutMeasurement").toStdString();
    EXPECT_TRUE(text("measurementDetails").contains("after: 2 matrices that products read stay"))
        << text("measurementDetails").toStdString();
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

} // namespace
} // namespace workbench::gui::test
