#include "tests/app/gui/measure/measure_panel_fixture.h"

#include <QtCore/QElapsedTimer>
#include <QtCore/QSettings>
#include <QtGui/QAction>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QSplitter>

namespace workbench::gui::test {
namespace {

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
    const SpeedGain* gain = m_document->gain(siteIndex("rms-norm@b"));
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
