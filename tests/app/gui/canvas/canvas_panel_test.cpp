#include "app/gui/canvas/canvas_panel.h"
#include "app/gui/canvas/legend_bar.h"
#include "tests/app/gui/support/locations.h"
#include "tests/app/gui/support/small_model.h"

#include <QtCore/QFile>
#include <QtCore/QSettings>
#include <QtGui/QImage>
#include <QtTest/QAbstractItemModelTester>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QToolButton>
#include <QtWidgets/QTreeView>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui::test {
namespace {

class CanvasPanelTest : public testing::Test {
protected:
    CanvasPanelTest() : document(locationsFor(folder)) {
        openSmallModel(document);
        open();
    }

    void open() {
        panel = std::make_unique<CanvasPanel>(document, selection, nullptr);
        panel->resize(900, 700);
        panel->show();
        panel->activateWindow();
        view().setFocus();
        waitForScope("");
    }
    const Diagram& diagram() const { return panel->pane().scene()->diagram; }
    CanvasView& view() const { return panel->pane().view(); }
    void waitForScope(const std::string& scope) {
        ASSERT_TRUE(waitFor([&] {
            return panel->pane().scene() && !panel->pane().busy() && diagram().scope == scope;
        })) << "the drawing of \""
            << scope << "\" did not come";
    }
    void waitForLayout() {
        ASSERT_TRUE(waitFor([&] { return !panel->pane().busy(); }));
    }
    std::int32_t boxOfModule(const std::string& path) const {
        for (std::size_t i = 0; i < diagram().boxes.size(); ++i)
            if (diagram().boxes[i].kind == Box::Kind::module && diagram().boxes[i].module == path)
                return static_cast<std::int32_t>(i);
        ADD_FAILURE() << "no box of " << path;
        return 0;
    }
    QPoint middleOf(std::int32_t box) const {
        return view().mapFromScene(panel->pane().scene()->boxes[static_cast<std::size_t>(box)].center());
    }
    template <class T>
    T& child(const char* name) const {
        T* found = panel->findChild<T*>(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    void find(const QString& text) {
        QTest::keyClick(&view(), Qt::Key_F, Qt::ControlModifier);
        child<QLineEdit>("searchText").setText(text);
        ASSERT_TRUE(waitFor([&] { return !child<QLabel>("searchCount").text().isEmpty(); }));
    }
    NodeId nodeMaking(std::string_view value) const {
        for (const Value& each : document.graph().values)
            if (each.name == value)
                return each.producer;
        ADD_FAILURE() << "no value " << value;
        return kNone;
    }

    TemporaryDirectory folder;
    Document document;
    Selection selection;
    std::unique_ptr<CanvasPanel> panel;
};

TEST_F(CanvasPanelTest, ShowsTheWholeModelWithItsLayersClosed) {
    const Box& layer = diagram().boxes[static_cast<std::size_t>(boxOfModule("layers.0"))];
    EXPECT_FALSE(layer.expanded);
    EXPECT_TRUE(layer.expandable);
}

TEST_F(CanvasPanelTest, ADoubleClickOpensALayerAndTheWayLeadsBack) {
    QTest::mouseDClick(view().viewport(), Qt::LeftButton, {}, middleOf(boxOfModule("layers.1")));
    waitForScope("layers.1");
    QToolButton* root = nullptr;
    for (QToolButton* button : child<QWidget>("breadcrumbs").findChildren<QToolButton*>())
        if (button->property("path") == QString())
            root = button;
    ASSERT_NE(root, nullptr);
    QTest::mouseClick(root, Qt::LeftButton);
    waitForScope("");
}

TEST_F(CanvasPanelTest, BackspaceGoesOutAndChoosesWhereOneWas) {
    panel->pane().openScope("layers.2.mlp");
    waitForScope("layers.2.mlp");
    QTest::keyClick(&view(), Qt::Key_Backspace);
    waitForScope("layers.2");
    ASSERT_EQ(view().chosen().size(), 1u);
    EXPECT_EQ(diagram().boxes[static_cast<std::size_t>(view().current())].module, "layers.2.mlp");
}

TEST_F(CanvasPanelTest, EnterOpensAModuleInPlaceAndItsBoxStaysWhereItWas) {
    const std::int32_t box = boxOfModule("layers.1");
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, middleOf(box));
    const QPointF before =
        view().viewportTransform().map(panel->pane().scene()->boxes[static_cast<std::size_t>(box)].topLeft());
    QTest::keyClick(&view(), Qt::Key_Return);
    waitForLayout();
    const std::int32_t opened = boxOfModule("layers.1");
    EXPECT_TRUE(diagram().boxes[static_cast<std::size_t>(opened)].expanded);
    EXPECT_EQ(diagram().scope, "");
    const QPointF after = view().viewportTransform().map(
        panel->pane().scene()->boxes[static_cast<std::size_t>(opened)].topLeft());
    EXPECT_LT((after - before).manhattanLength(), 3);
}

TEST_F(CanvasPanelTest, AScopeComesBackAsItWasLeft) {
    panel->pane().setExpanded("layers.1", true);
    waitForLayout();
    panel->pane().openScope("layers.0");
    waitForScope("layers.0");
    panel->pane().openScope("");
    waitForScope("");
    EXPECT_TRUE(diagram().boxes[static_cast<std::size_t>(boxOfModule("layers.1"))].expanded);
}

TEST_F(CanvasPanelTest, PageKeysGoFromLayerToLayer) {
    panel->pane().openScope("layers.1.self_attn");
    waitForScope("layers.1.self_attn");
    QTest::keyClick(&view(), Qt::Key_PageDown, Qt::ControlModifier);
    waitForScope("layers.2.self_attn");
    QTest::keyClick(&view(), Qt::Key_PageUp, Qt::ControlModifier);
    waitForScope("layers.1.self_attn");
}

TEST_F(CanvasPanelTest, SearchCountsItsHitsAndStepsThroughThem) {
    find("rsqrt");
    EXPECT_EQ(child<QLabel>("searchCount").text(), "9 hits"); // two norms a layer and the last one
    QTest::keyClick(&child<QLineEdit>("searchText"), Qt::Key_Return);
    EXPECT_EQ(child<QLabel>("searchCount").text(), "1 of 9");
    const NodeId first = selection.node();
    ASSERT_NE(first, kNone);
    EXPECT_NE(document.graph().node(first).op.find("rsqrt"), std::string::npos);
    waitForLayout();
    ASSERT_GE(view().current(), 0);
    EXPECT_EQ(diagram().boxes[static_cast<std::size_t>(view().current())].node, first);
    EXPECT_TRUE(view().visiblePart().intersects(
        panel->pane().scene()->boxes[static_cast<std::size_t>(view().current())]));
    QTest::keyClick(&child<QLineEdit>("searchText"), Qt::Key_Return);
    EXPECT_NE(selection.node(), first);
    QTest::keyClick(&child<QLineEdit>("searchText"), Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(selection.node(), first);
    QTest::keyClick(&child<QLineEdit>("searchText"), Qt::Key_Escape);
    EXPECT_FALSE(child<QWidget>("searchBar").isVisible());
}

TEST_F(CanvasPanelTest, ReturnRightAfterTheTextGoesToTheFirstHit) {
    QTest::keyClick(&view(), Qt::Key_F, Qt::ControlModifier);
    QTest::keyClicks(&child<QLineEdit>("searchText"), "rsqrt");
    QTest::keyClick(&child<QLineEdit>("searchText"), Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return child<QLabel>("searchCount").text() == "1 of 9"; }));
    EXPECT_NE(document.graph().node(selection.node()).op.find("rsqrt"), std::string::npos);
}

TEST_F(CanvasPanelTest, WhatWasFoundIsAListToChooseFrom) {
    auto& list = child<QTreeView>("searchHits");
    const QAbstractItemModelTester tester(list.model());
    EXPECT_FALSE(list.isVisible());
    find("rsqrt");
    ASSERT_EQ(list.model()->rowCount(), 9);
    EXPECT_TRUE(list.isVisible());
    QTest::mouseClick(list.viewport(), Qt::LeftButton, {},
                      list.visualRect(list.model()->index(2, 0)).center());
    EXPECT_EQ(child<QLabel>("searchCount").text(), "3 of 9");
    const NodeId third = selection.node();
    QTest::keyClick(&list, Qt::Key_Down);
    EXPECT_EQ(child<QLabel>("searchCount").text(), "4 of 9");
    EXPECT_NE(selection.node(), third);
    QTest::keyClick(&list, Qt::Key_Escape);
    EXPECT_FALSE(list.isVisible());
    EXPECT_FALSE(child<QWidget>("searchBar").isVisible());
}

TEST_F(CanvasPanelTest, SearchSaysWhenNothingIsFound) {
    find("no_such_thing");
    EXPECT_EQ(child<QLabel>("searchCount").text(), "not found");
    EXPECT_FALSE(child<QToolButton>("searchNext").isEnabled());
}

TEST_F(CanvasPanelTest, ASelectionFromElsewhereIsChosenWhereItShows) {
    selection.selectModule("layers.3");
    ASSERT_EQ(view().chosen().size(), 1u);
    EXPECT_EQ(diagram().boxes[static_cast<std::size_t>(view().current())].module, "layers.3");
    const NodeId inside = nodeMaking("q_1");
    selection.selectNode(inside, "layers.1.self_attn.q_proj");
    EXPECT_EQ(diagram().boxes[static_cast<std::size_t>(view().current())].module, "layers.1")
        << "the box that holds it";
}

TEST_F(CanvasPanelTest, RevealingANodeOpensWhatHidesIt) {
    const NodeId inside = nodeMaking("qs_2");
    selection.selectNode(inside, "layers.2.self_attn");
    selection.reveal();
    waitForLayout();
    ASSERT_GE(view().current(), 0);
    EXPECT_EQ(diagram().boxes[static_cast<std::size_t>(view().current())].node, inside);
}

TEST_F(CanvasPanelTest, RevealingASiteChoosesAllOfItsNodes) {
    const auto& sites = document.analysis().sites;
    const auto qkv =
        std::find_if(sites.begin(), sites.end(), [](const Site& site) { return site.pattern == "qkv"; });
    ASSERT_NE(qkv, sites.end());
    selection.selectSite(static_cast<std::size_t>(qkv - sites.begin()), qkv->module);
    selection.reveal();
    waitForLayout();
    EXPECT_EQ(view().chosen().size(), 3u);
}

TEST_F(CanvasPanelTest, ADrawingThatIsMadeToRevealSomethingStandsInTheMiddle) {
    panel->resize(2400, 900);
    const NodeId inside = nodeMaking("qs_2");
    selection.selectNode(inside, "layers.2.self_attn");
    selection.reveal();
    waitForLayout();
    const QRectF bounds = panel->pane().scene()->bounds;
    ASSERT_LT(bounds.width() * view().zoom(), view().viewport()->width());
    EXPECT_NEAR(view().mapFromScene(bounds.center()).x(), view().viewport()->width() / 2.0, 2);
}

TEST_F(CanvasPanelTest, AClickTellsTheOthers) {
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, middleOf(boxOfModule("layers.1")));
    EXPECT_EQ(selection.module(), "layers.1");
    panel->pane().openScope("layers.1.mlp");
    waitForScope("layers.1.mlp");
    const std::int32_t box = boxOf(diagram(), nodeMaking("m_1"));
    ASSERT_GE(box, 0);
    view().ensureShown({box});
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, middleOf(box));
    EXPECT_EQ(selection.node(), nodeMaking("m_1"));
}

TEST_F(CanvasPanelTest, TheLegendSwitchesThePatternsColours) {
    panel->pane().openScope("layers.0");
    waitForScope("layers.0");
    auto& button = child<QToolButton>("legend-gate-up");
    EXPECT_TRUE(button.isChecked());
    const std::int32_t slot = button.property("slot").toInt();
    QTest::mouseClick(&button, Qt::LeftButton);
    EXPECT_TRUE(view().paintOptions().hiddenSlots.contains(slot));
    QTest::mouseClick(&button, Qt::LeftButton, Qt::ShiftModifier);
    EXPECT_FALSE(view().paintOptions().hiddenSlots.contains(slot));
    EXPECT_EQ(view().paintOptions().hiddenSlots.size() + 1,
              static_cast<std::size_t>(child<QWidget>("legend").findChildren<QToolButton*>().size()));
    QTest::mouseClick(&button, Qt::LeftButton, Qt::ShiftModifier);
    EXPECT_TRUE(view().paintOptions().hiddenSlots.empty());
}

TEST_F(CanvasPanelTest, TheOverlaySaysItsTotalOrWhatToDo) {
    auto& choice = child<QComboBox>("overlayChoice");
    choice.setCurrentIndex(choice.findData("weights"));
    // f32: norms 9 x 32, q 48x32, k and v 16x32, o 32x48, gate, up, down 96x32 for four layers
    EXPECT_EQ(child<QLabel>("overlayTotal").text(), "total 209 KiB");
    EXPECT_FALSE(panel->pane().colours()->shares.empty());
    choice.setCurrentIndex(choice.findData("error"));
    EXPECT_EQ(child<QLabel>("overlayTotal").text(), "no errors yet: verify some sites");
    choice.setCurrentIndex(0);
    EXPECT_TRUE(child<QLabel>("overlayTotal").text().isEmpty());
}

TEST_F(CanvasPanelTest, MeasuredTimesAreTotalledAndThoseOfAnotherGraphAreNotShown) {
    auto& choice = child<QComboBox>("overlayChoice");
    const auto& total = child<QLabel>("overlayTotal");
    choice.setCurrentIndex(choice.findData("time"));
    EXPECT_TRUE(total.text().startsWith("no times yet"));
    NodeTimes times{"sha256:another", {}, {}, {}};
    for (std::size_t node : {0, 1})
        times.before[document.graph().value(document.graph().nodes[node].outputs[0]).name] = 0.25;
    document.setNodeTimes(times, {});
    EXPECT_TRUE(total.text().startsWith("no times yet"));
    times.fingerprint = document.session().model().fingerprint;
    times.after = {*times.before.begin()};
    document.setNodeTimes(times, document.session().decisions());
    EXPECT_EQ(total.text(), "total 0.5 ms");
    choice.setCurrentIndex(choice.findData("time_after"));
    EXPECT_EQ(total.text(), "total 0.25 ms");
    const std::vector<Site>& sites = document.analysis().sites;
    const auto one = std::find_if(sites.begin(), sites.end(),
                                  [](const Site& site) { return site.verdict == SiteVerdict::applicable; });
    document.setDecisions({{one->id, Decision::reject}}, "a decision that was not measured");
    EXPECT_TRUE(total.text().startsWith("no times of these decisions"));
    choice.setCurrentIndex(choice.findData("time"));
    document.setNodeTimes({}, {});
    EXPECT_TRUE(total.text().startsWith("no times yet"));
}

TEST_F(CanvasPanelTest, ExportsWhatIsSeen) {
    for (const char* name : {"seen.png", "seen.svg"}) {
        const QString file = QString::fromStdString((folder.path() / name).string());
        std::optional<bool> written;
        panel->exportSeen(file, [&](const Status& status) { written = status.ok(); });
        ASSERT_TRUE(waitFor([&] { return written.has_value(); }));
        EXPECT_TRUE(*written);
        EXPECT_TRUE(QFile::exists(file));
    }
    const QImage picture(QString::fromStdString((folder.path() / "seen.png").string()));
    EXPECT_GT(picture.width(), 200);
}

TEST_F(CanvasPanelTest, AnExportThatCannotBeWrittenSaysSo) {
    std::optional<std::string> message;
    panel->exportSeen("/nowhere/at/all.png",
                      [&](const Status& status) { message = status ? "" : status.error().message; });
    ASSERT_TRUE(waitFor([&] { return message.has_value(); }));
    EXPECT_FALSE(message->empty());
}

TEST_F(CanvasPanelTest, DecisionsRecolourTheGraph) {
    panel->pane().openScope("layers.0.mlp");
    waitForScope("layers.0.mlp");
    const auto before = panel->pane().colours();
    document.apply({0}, Decision::reject, "reject one");
    settle(document);
    EXPECT_NE(panel->pane().colours(), before);
}

TEST_F(CanvasPanelTest, ComesBackWithItsScopeOverlayAndFilter) {
    QSettings settings(QString::fromStdString((folder.path() / "state.ini").string()), QSettings::IniFormat);
    panel->pane().openScope("layers.1");
    waitForScope("layers.1");
    auto& choice = child<QComboBox>("overlayChoice");
    choice.setCurrentIndex(choice.findData("weights"));
    QTest::mouseClick(&child<QToolButton>("legend-gate-up"), Qt::LeftButton);
    panel->saveState(settings);
    panel = std::make_unique<CanvasPanel>(document, selection, nullptr);
    panel->restoreState(settings);
    panel->resize(900, 700);
    panel->show();
    waitForScope("layers.1");
    EXPECT_EQ(child<QComboBox>("overlayChoice").currentData().toString(), "weights");
    EXPECT_FALSE(child<QToolButton>("legend-gate-up").isChecked());
}

TEST_F(CanvasPanelTest, EveryControlHasANameForScreenReaders) {
    for (const QToolButton* button : panel->findChildren<QToolButton*>()) {
        if (qobject_cast<QLineEdit*>(button->parentWidget()))
            continue; // Qt's own
        EXPECT_FALSE(button->accessibleName().isEmpty()) << button->objectName().toStdString();
    }
}

} // namespace
} // namespace workbench::gui::test
