#include "app/gui/canvas/canvas_view.h"
#include "tests/app/gui/canvas/drawn_scene.h"

#include <QtGui/QNativeGestureEvent>
#include <QtGui/QPointingDevice>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

using Boxes = std::vector<std::int32_t>;

class CanvasViewTest : public testing::Test {
protected:
    CanvasViewTest() {
        view.resize(600, 500);
        view.show();
        view.showScene(diamond());
    }

    QPoint middleOf(std::int32_t box) const {
        return view.mapFromScene(view.drawn()->boxes[static_cast<std::size_t>(box)].center());
    }
    QPointF sceneAt(const QPointF& position) const {
        return view.viewportTransform().inverted().map(position);
    }
    void click(const QPoint& position, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mouseClick(view.viewport(), Qt::LeftButton, modifiers, position);
    }
    void wheel(const QPointF& position, int angle, Qt::KeyboardModifiers modifiers = {}) {
        QWheelEvent event(position, view.viewport()->mapToGlobal(position), {}, {0, angle}, Qt::NoButton,
                          modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(view.viewport(), &event);
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&view, key, modifiers); }

    CanvasView view;
};

TEST_F(CanvasViewTest, ShowsASmallSceneWholeAndNotEnlarged) {
    EXPECT_DOUBLE_EQ(view.zoom(), 1);
    EXPECT_TRUE(view.visiblePart().contains(view.drawn()->bounds));
}

TEST_F(CanvasViewTest, ShowsATallSceneFromItsTopAsLargeAsCanBeRead) {
    view.showScene(grid(2, 100));
    EXPECT_DOUBLE_EQ(view.zoom(), CanvasView::kReadable);
    EXPECT_LT(view.visiblePart().top(), 0);
    EXPECT_GT(view.visiblePart().top(), -100);
    view.fit();
    EXPECT_TRUE(view.visiblePart().contains(view.drawn()->bounds));
}

TEST_F(CanvasViewTest, TheWheelZoomsAtThePointer) {
    const QPointF pointer(420, 130);
    const QPointF under = sceneAt(pointer);
    wheel(pointer, 240);
    EXPECT_NEAR(view.zoom(), 1.43, 0.02);
    EXPECT_LT((sceneAt(pointer) - under).manhattanLength(), 2);
    wheel(pointer, -240);
    EXPECT_NEAR(view.zoom(), 1, 1e-6);
}

TEST_F(CanvasViewTest, ZoomStopsAtItsLimits) {
    for (int i = 0; i < 60; ++i)
        wheel({300, 250}, 240);
    EXPECT_DOUBLE_EQ(view.zoom(), 4);
    for (int i = 0; i < 120; ++i)
        wheel({300, 250}, -240);
    EXPECT_DOUBLE_EQ(view.zoom(), 0.02);
}

TEST_F(CanvasViewTest, TheWheelWithShiftMovesSideways) {
    const QPointF before = view.visiblePart().topLeft();
    wheel({300, 250}, 120, Qt::ShiftModifier);
    EXPECT_LT(view.visiblePart().left(), before.x());
    EXPECT_DOUBLE_EQ(view.visiblePart().top(), before.y());
    EXPECT_DOUBLE_EQ(view.zoom(), 1);
}

TEST_F(CanvasViewTest, PinchingZoomsAtTheFingers) {
    const QPointF fingers(200, 300);
    const QPointF under = sceneAt(fingers);
    QNativeGestureEvent event(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2, fingers,
                              fingers, view.viewport()->mapToGlobal(fingers), 0.5, {});
    QApplication::sendEvent(view.viewport(), &event);
    EXPECT_DOUBLE_EQ(view.zoom(), 1.5);
    EXPECT_LT((sceneAt(fingers) - under).manhattanLength(), 2);
}

TEST_F(CanvasViewTest, DraggingMovesTheSceneAndChoosesNothing) {
    QSignalSpy chosen(&view, &CanvasView::chosenChanged);
    const QPoint start = middleOf(kSum);
    const QPointF under = sceneAt(start);
    QTest::mousePress(view.viewport(), Qt::LeftButton, {}, start);
    QTest::mouseMove(view.viewport(), start + QPoint(30, 10));
    QTest::mouseMove(view.viewport(), start + QPoint(80, 40));
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, start + QPoint(80, 40));
    EXPECT_LT((sceneAt(start + QPoint(80, 40)) - under).manhattanLength(), 2);
    EXPECT_TRUE(view.chosen().empty());
    EXPECT_EQ(chosen.count(), 0);
}

TEST_F(CanvasViewTest, AClickChoosesABoxAndBesideAllItClears) {
    QSignalSpy chosen(&view, &CanvasView::chosenChanged);
    click(middleOf(kRight));
    EXPECT_EQ(view.chosen(), Boxes{kRight});
    EXPECT_EQ(view.paintOptions().highlights[kX], Highlight::producer);
    EXPECT_EQ(view.paintOptions().highlights[kSum], Highlight::consumer);
    EXPECT_EQ(view.paintOptions().highlights[kLeft], Highlight::none);
    click({3, 3});
    EXPECT_TRUE(view.chosen().empty());
    EXPECT_EQ(chosen.count(), 2);
}

TEST_F(CanvasViewTest, WhatIsChosenIsToldToScreenReaders) {
    click(middleOf(kRight));
    EXPECT_TRUE(view.accessibleDescription().startsWith("right"));
}

TEST_F(CanvasViewTest, ADoubleClickOpensAModuleAndRevealsANode) {
    QSignalSpy opened(&view, &CanvasView::openRequested), revealed(&view, &CanvasView::revealRequested);
    QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, middleOf(kBlock));
    ASSERT_EQ(opened.count(), 1);
    EXPECT_EQ(opened[0][0].toInt(), kBlock);
    QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, middleOf(kLeft));
    ASSERT_EQ(revealed.count(), 1);
    EXPECT_EQ(revealed[0][0].toInt(), kLeft);
}

TEST_F(CanvasViewTest, AClickOnTheToggleOpensInPlace) {
    QSignalSpy toggled(&view, &CanvasView::toggleRequested);
    click(view.mapFromScene(toggleOf(*view.drawn(), kBlock).center()));
    ASSERT_EQ(toggled.count(), 1);
    EXPECT_EQ(toggled[0][0].toInt(), kBlock);
    EXPECT_TRUE(view.chosen().empty());
}

TEST_F(CanvasViewTest, EnterOpensInPlaceAndControlEnterAsAScope) {
    QSignalSpy toggled(&view, &CanvasView::toggleRequested), opened(&view, &CanvasView::openRequested),
        out(&view, &CanvasView::outRequested);
    click(middleOf(kBlock));
    key(Qt::Key_Return);
    key(Qt::Key_Return, Qt::ControlModifier);
    key(Qt::Key_Backspace);
    EXPECT_EQ(toggled.count(), 1);
    EXPECT_EQ(opened.count(), 1);
    EXPECT_EQ(out.count(), 1);
}

TEST_F(CanvasViewTest, ArrowKeysWalkAlongTheEdgesAndBackTheSameWay) {
    key(Qt::Key_Down); // nothing is chosen: the walk starts at the top
    EXPECT_EQ(view.chosen(), Boxes{kX});
    key(Qt::Key_Down);
    key(Qt::Key_Right);
    EXPECT_EQ(view.chosen(), Boxes{kRight});
    key(Qt::Key_Down);
    EXPECT_EQ(view.chosen(), Boxes{kSum});
    key(Qt::Key_Up);
    EXPECT_EQ(view.chosen(), Boxes{kRight}) << "not the left one, which is as near";
    key(Qt::Key_Left);
    EXPECT_EQ(view.chosen(), Boxes{kLeft});
    key(Qt::Key_Escape);
    EXPECT_TRUE(view.chosen().empty());
}

TEST_F(CanvasViewTest, AWalkPrefersValuesToWeights) {
    click(middleOf(kLeft));
    key(Qt::Key_Up);
    EXPECT_EQ(view.chosen(), Boxes{kX});
}

TEST_F(CanvasViewTest, AWalkKeepsTheChosenBoxInSight) {
    view.showScene(grid(1, 60));
    key(Qt::Key_Down);
    for (int i = 0; i < 40; ++i)
        key(Qt::Key_Down);
    EXPECT_EQ(view.chosen(), Boxes{40});
    EXPECT_TRUE(view.visiblePart().contains(view.drawn()->boxes[40]));
}

TEST_F(CanvasViewTest, ProducersAndConsumersOfAllThatIsChosenAreChosen) {
    click(middleOf(kSum));
    view.chooseNeighbours(true);
    EXPECT_EQ(view.chosen(), (Boxes{kLeft, kRight}));
    view.chooseNeighbours(true);
    EXPECT_EQ(view.chosen(), (Boxes{kX, kWeight}));
    view.chooseNeighbours(false);
    EXPECT_EQ(view.chosen(), (Boxes{kLeft, kRight}));
}

TEST_F(CanvasViewTest, AnAnchoredBoxStaysWhereItIsWhenTheSceneChanges) {
    wheel({300, 250}, 120);
    const QPointF before = view.viewportTransform().map(view.drawn()->boxes[kBlock].topLeft());
    auto moved = std::make_shared<Scene>(*diamond());
    for (QRectF& box : moved->boxes)
        box.translate(500, 900);
    moved->bounds.translate(500, 900);
    view.showScene(moved, "m:block");
    const QPointF after = view.viewportTransform().map(moved->boxes[kBlock].topLeft());
    EXPECT_LT((after - before).manhattanLength(), 2);
    EXPECT_NEAR(view.zoom(), 1.2, 0.02);
}

TEST_F(CanvasViewTest, FatesColourTheBoxesUntilAnotherSceneComes) {
    view.setFates({Highlight::none, Highlight::merged, Highlight::merged, Highlight::removed});
    EXPECT_EQ(view.paintOptions().highlights[kLeft], Highlight::merged);
    view.choose({kLeft});
    EXPECT_EQ(view.paintOptions().highlights[kLeft], Highlight::selected);
    EXPECT_EQ(view.paintOptions().highlights[kSum], Highlight::removed) << "not what reads the chosen one";
    view.showScene(grid(2, 2));
    for (const Highlight highlight : view.paintOptions().highlights)
        EXPECT_EQ(highlight, Highlight::none);
}

} // namespace
} // namespace workbench::gui::test
