#include "tests/app/gui/measure/measure_panel_fixture.h"

#include <QtCore/QFile>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPlainTextEdit>

/// What is asked of the programs: lengths, prompts, requests of a file.

namespace workbench::gui::test {
namespace {

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

TEST_F(MeasurePanelTest, MeasuresOnWeightsInFewerBitsAndSaysWhatOfThemIsNot) {
    QStringList told;
    QObject::connect(m_document.get(), &Document::noticed,
                     [&told](const QString& sentence) { told << sentence; });
    auto& weights = child<QComboBox>("weights");
    EXPECT_EQ(weights.currentText(), "as stored");
    QTest::keyClicks(&weights, "int4");
    EXPECT_EQ(m_document->weights(), "int4") << "verifying uses them too";
    measureToTheEnd();
    EXPECT_TRUE(text("aboutMeasurement").contains(" · weights in int4 · "))
        << text("aboutMeasurement").toStdString();
    EXPECT_TRUE(text("measurementDetails").contains("after: 2 matrices that products read stay"))
        << text("measurementDetails").toStdString();
    ASSERT_FALSE(told.isEmpty());
    EXPECT_TRUE(told[0].contains("int4")) << told[0].toStdString();
    const MeasurePanel another(*m_document, m_selection, nullptr); // as after the model was opened again
    EXPECT_EQ(another.findChild<QComboBox*>("weights")->currentText(), "int4");
    m_document->setWeights("stored");
    EXPECT_EQ(weights.currentText(), "as stored");
}

TEST_F(MeasurePanelTest, RefusesTextsWithoutAPrompt) {
    child<QComboBox>("promptKind").setCurrentIndex(1);
    child<QPlainTextEdit>("prompts").setPlainText(" \n\n");
    click("start");
    EXPECT_FALSE(m_panel->running());
    EXPECT_TRUE(text("measureNotice").contains("no prompt")) << text("measureNotice").toStdString();
}

} // namespace
} // namespace workbench::gui::test
