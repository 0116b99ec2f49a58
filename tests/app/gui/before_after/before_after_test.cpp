#include "app/gui/before_after/before_after_panel.h"
#include "app/gui/document/elided_label.h"
#include "tests/app/gui/support/locations.h"
#include "tests/app/gui/support/small_model.h"

#include <QtCore/QSettings>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QToolButton>

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench::gui::test {
namespace {

constexpr GraphSide kOriginal = GraphSide::original, kRewritten = GraphSide::rewritten;

class BeforeAfterTest : public testing::Test {
protected:
    BeforeAfterTest() : document(locationsFor(folder)) {
        openSmallModel(document, 3);
        panel = std::make_unique<BeforeAfterPanel>(document, selection, nullptr);
        panel->resize(1200, 700);
    }

    void applyAll() {
        std::vector<std::size_t> sites(document.analysis().sites.size());
        for (std::size_t i = 0; i < sites.size(); ++i)
            sites[i] = i;
        document.apply(sites, Decision::apply, "apply all");
        settle(document);
    }
    void showPanel() {
        QSignalSpy updated(panel.get(), &BeforeAfterPanel::updated);
        panel->show();
        ASSERT_TRUE(waitFor([&] { return updated.count() > 0; }));
        waitForPanes();
    }
    void waitForPanes() {
        ASSERT_TRUE(waitFor([&] {
            return pane(kOriginal).scene() && pane(kRewritten).scene() && !pane(kOriginal).busy() &&
                   !pane(kRewritten).busy();
        }));
    }
    CanvasPane& pane(GraphSide side) const { return panel->sync().pane(side); }
    CanvasView& view(GraphSide side) const { return pane(side).view(); }
    const Box& box(GraphSide side, std::int32_t index) const {
        return pane(side).scene()->diagram.boxes[static_cast<std::size_t>(index)];
    }
    std::vector<std::string> chosenOps(GraphSide side) const {
        std::vector<std::string> ops;
        for (const std::int32_t chosen : view(side).chosen())
            if (box(side, chosen).node != kNone)
                ops.push_back(pane(side).source().graph->node(box(side, chosen).node).op);
        std::sort(ops.begin(), ops.end());
        return ops;
    }
    std::int32_t boxMaking(GraphSide side, std::string_view value) const {
        const Graph& graph = *pane(side).source().graph;
        for (const Value& each : graph.values)
            if (each.name == value && each.producer != kNone)
                return boxOf(pane(side).scene()->diagram, each.producer);
        ADD_FAILURE() << "no value " << value;
        return 0;
    }
    void click(GraphSide side, std::int32_t index) {
        view(side).ensureShown({index});
        QTest::mouseClick(
            view(side).viewport(), Qt::LeftButton, {},
            view(side).mapFromScene(pane(side).scene()->boxes[static_cast<std::size_t>(index)].center()));
    }
    void goToPattern(const char* pattern) {
        auto* choice = panel->findChild<QComboBox*>("stepPattern");
        ASSERT_GE(choice->findData(pattern), 0);
        choice->setCurrentIndex(choice->findData(pattern));
        waitForPanes();
    }
    QString text(const char* label) const { return panel->findChild<QLabel*>(label)->text(); }

    TemporaryDirectory folder;
    Document document;
    Selection selection;
    std::unique_ptr<BeforeAfterPanel> panel;
};

TEST_F(BeforeAfterTest, WithoutAppliedRewritesItSaysWhatToDo) {
    QSignalSpy updated(panel.get(), &BeforeAfterPanel::updated);
    panel->show();
    ASSERT_TRUE(waitFor([&] { return updated.count() > 0; }));
    EXPECT_TRUE(panel->findChild<QLabel*>("beforeAfterHint")->isVisible());
    EXPECT_FALSE(panel->findChild<QWidget*>("originalPane")->isVisible());
}

TEST_F(BeforeAfterTest, OpensAtTheFirstRewrite) {
    applyAll();
    showPanel();
    EXPECT_EQ(panel->step(), 0);
    EXPECT_TRUE(text("stepPlace").startsWith("1 of "));
    EXPECT_FALSE(view(kOriginal).chosen().empty());
    EXPECT_FALSE(view(kRewritten).chosen().empty());
}

TEST_F(BeforeAfterTest, ArrowKeysStepThroughTheRewritesInOrder) {
    applyAll();
    showPanel();
    const auto first = selection.site();
    QTest::keyClick(&view(kOriginal), Qt::Key_Right);
    EXPECT_EQ(panel->step(), 1);
    const auto second = selection.site();
    ASSERT_TRUE(second);
    EXPECT_NE(second, first);
    QTest::keyClick(&view(kRewritten), Qt::Key_Right);
    EXPECT_EQ(panel->step(), 2);
    QTest::keyClick(&view(kRewritten), Qt::Key_Left);
    EXPECT_EQ(selection.site(), second);
    QTest::keyClick(&view(kRewritten), Qt::Key_Home);
    EXPECT_EQ(panel->step(), 0);
    QTest::keyClick(&view(kRewritten), Qt::Key_Left);
    EXPECT_EQ(panel->step(), 0) << "the first one stays";
    QTest::keyClick(&view(kRewritten), Qt::Key_End);
    EXPECT_FALSE(panel->findChild<QLabel*>("stepPlace")->text().startsWith("1 of"));
    const auto& steps = panel->sync().correspondence()->steps();
    EXPECT_EQ(panel->step() + 1, static_cast<int>(steps.size()));
}

TEST_F(BeforeAfterTest, AStepShowsBothSidesOfTheRewrite) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    EXPECT_EQ(chosenOps(kOriginal), (std::vector<std::string>{"aten.linear.default", "aten.linear.default",
                                                              "aten.linear.default"}));
    EXPECT_EQ(chosenOps(kRewritten),
              (std::vector<std::string>{"aten.linear.default", "aten.split_with_sizes.default"}));
    EXPECT_EQ(pane(kOriginal).picture().request.scope, pane(kRewritten).picture().request.scope);
    EXPECT_TRUE(text("stepWhat").contains("qkv@layers.0.self_attn: 3 nodes become linear + split_with_sizes"))
        << text("stepWhat").toStdString();
}

TEST_F(BeforeAfterTest, ANarrowWindowCutsAStepInTheMiddle) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    panel->resize(420, 400);
    const auto* label = panel->findChild<ElidedLabel*>("stepWhat");
    const QString cut = label->shownLines().value(0);
    EXPECT_TRUE(cut.contains("…") && cut.endsWith(label->text().right(4))) << cut.toStdString();
    EXPECT_LE(label->fontMetrics().horizontalAdvance(cut), label->width());
    EXPECT_EQ(label->toolTip(), label->text()) << "whole as its tip";
}

TEST_F(BeforeAfterTest, MergedAndAddedNodesAreToldApart) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    view(kRewritten).choose({});
    view(kOriginal).choose({});
    const std::int32_t split = boxMaking(kRewritten, "q_0"), attention = boxMaking(kRewritten, "a_0");
    EXPECT_EQ(view(kRewritten).paintOptions().highlights[static_cast<std::size_t>(split)], Highlight::added);
    EXPECT_EQ(view(kRewritten).paintOptions().highlights[static_cast<std::size_t>(attention)],
              Highlight::none);
    const std::int32_t q = boxMaking(kOriginal, "q_0");
    EXPECT_EQ(view(kOriginal).paintOptions().highlights[static_cast<std::size_t>(q)], Highlight::merged);
}

TEST_F(BeforeAfterTest, ChoosingANodeChoosesItsPartnerAtTheSameSpot) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    const std::int32_t before = boxMaking(kOriginal, "a_0");
    click(kOriginal, before);
    const std::int32_t after = boxMaking(kRewritten, "a_0");
    EXPECT_EQ(view(kRewritten).chosen(), std::vector<std::int32_t>{after});
    const auto spot = [&](GraphSide side, std::int32_t index) {
        const QRectF rect = pane(side).scene()->boxes[static_cast<std::size_t>(index)];
        return view(side).viewportTransform().map(QPointF(rect.center().x(), rect.top()));
    };
    EXPECT_LT((spot(kOriginal, before) - spot(kRewritten, after)).manhattanLength(), 3);
    EXPECT_TRUE(text("fate").contains("the same on both sides")) << text("fate").toStdString();
}

TEST_F(BeforeAfterTest, WhatANodeBecameIsSaid) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    click(kOriginal, boxMaking(kOriginal, "k_0"));
    EXPECT_TRUE(text("fate").contains("went into")) << text("fate").toStdString();
    click(kRewritten, boxMaking(kRewritten, "q_0"));
    EXPECT_TRUE(text("fate").startsWith("No partner:")) << text("fate").toStdString();
    ASSERT_TRUE(selection.site());
    EXPECT_EQ(document.analysis().sites[*selection.site()].pattern, "qkv");
}

TEST_F(BeforeAfterTest, ZoomAndPlaceFollowInBothDirections) {
    applyAll();
    showPanel();
    view(kOriginal).zoomTo(0.8, {200, 200});
    EXPECT_NEAR(view(kRewritten).zoom(), 0.8, 1e-6);
    view(kRewritten).zoomIn();
    EXPECT_NEAR(view(kOriginal).zoom(), 1.0, 1e-6);
    const QPointF before = view(kOriginal).visiblePart().center();
    view(kRewritten).centreOn(view(kRewritten).visiblePart().center() + QPointF(0, 60));
    EXPECT_NEAR(view(kOriginal).visiblePart().center().y() - before.y(), 60, 3);
}

TEST_F(BeforeAfterTest, AModuleOpenedInOnePaneOpensInTheOther) {
    applyAll();
    showPanel();
    panel->sync().openScope("layers.0");
    waitForPanes();
    ASSERT_TRUE(waitFor([&] { return pane(kRewritten).scene()->diagram.scope == "layers.0"; }));
    waitForPanes();
    std::int32_t mlp = -1;
    for (std::size_t i = 0; i < pane(kOriginal).scene()->boxes.size(); ++i)
        if (box(kOriginal, static_cast<std::int32_t>(i)).module == "layers.0.mlp" &&
            box(kOriginal, static_cast<std::int32_t>(i)).kind == Box::Kind::module)
            mlp = static_cast<std::int32_t>(i);
    ASSERT_GE(mlp, 0);
    const bool wasExpanded = box(kOriginal, mlp).expanded;
    Q_EMIT view(kOriginal).toggleRequested(mlp);
    waitForPanes();
    for (const GraphSide side : {kOriginal, kRewritten})
        EXPECT_NE(pane(side).picture().request.expanded.contains("layers.0.mlp"), wasExpanded);
}

TEST_F(BeforeAfterTest, ADecisionThatTakesARewriteAwayKeepsThePlace) {
    applyAll();
    showPanel();
    goToPattern("qkv");
    const std::size_t total = panel->sync().correspondence()->steps().size();
    const auto shown = selection.site();
    QSignalSpy updated(panel.get(), &BeforeAfterPanel::updated);
    const auto& sites = document.analysis().sites;
    const auto gateUp = std::find_if(sites.begin(), sites.end(), [](const Site& site) {
        return site.pattern == "gate-up" && site.verdict == SiteVerdict::applicable;
    });
    ASSERT_NE(gateUp, sites.end());
    document.apply({static_cast<std::size_t>(gateUp - sites.begin())}, Decision::reject, "reject one");
    ASSERT_TRUE(waitFor([&] { return updated.count() > 0; }));
    waitForPanes();
    EXPECT_EQ(panel->sync().correspondence()->steps().size() + 1, total);
    EXPECT_EQ(selection.site(), shown);
    EXPECT_EQ(panel->step(), 0);
}

TEST_F(BeforeAfterTest, ASiteChosenElsewhereBecomesTheStep) {
    applyAll();
    showPanel();
    const RewriteStep last = panel->sync().correspondence()->steps().back();
    selection.selectSite(last.site, document.analysis().sites[last.site].module);
    waitForPanes();
    EXPECT_EQ(panel->step() + 1, static_cast<int>(panel->sync().correspondence()->steps().size()));
    EXPECT_EQ(view(kOriginal).chosen().size(), last.original.size());
}

TEST_F(BeforeAfterTest, ComesBackAtTheSameRewrite) {
    applyAll();
    showPanel();
    panel->goTo(4);
    waitForPanes();
    QSettings settings(QString::fromStdString((folder.path() / "state.ini").string()), QSettings::IniFormat);
    panel->saveState(settings);
    panel = std::make_unique<BeforeAfterPanel>(document, selection, nullptr);
    panel->restoreState(settings);
    showPanel();
    EXPECT_EQ(panel->step(), 4);
}

} // namespace
} // namespace workbench::gui::test
