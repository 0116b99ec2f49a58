#include "app/gui/canvas/minimap.h"
#include "tests/app/gui/canvas/drawn_scene.h"

#include <QtTest/QSignalSpy>
#include <QtTest/QTest>

#include <gtest/gtest.h>

#include <functional>

namespace workbench::gui::test {
namespace {

class OnShow : public QObject {
public:
    explicit OnShow(std::function<void()> act) : m_act(std::move(act)) {}
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Show)
            m_act();
        return false;
    }

private:
    std::function<void()> m_act;
};

class MinimapTest : public testing::Test {
protected:
    MinimapTest() {
        pane.resize(600, 500);
        pane.show();
    }
    QWidget pane;
    Minimap* minimap = new Minimap(&pane);
};

TEST_F(MinimapTest, IsThereWhileNotAllIsInSight) {
    const auto scene = diamond();
    minimap->setDrawing(scene.get(), {});
    minimap->setVisiblePart(scene->bounds);
    EXPECT_FALSE(minimap->isVisible());
    minimap->setVisiblePart({scene->bounds.topLeft(), scene->bounds.size() / 2});
    EXPECT_TRUE(minimap->isVisible());
    minimap->setDrawing(nullptr, {});
    EXPECT_FALSE(minimap->isVisible());
}

/// Some window systems lay out and paint what is around a widget as soon as it is shown.
TEST_F(MinimapTest, TakesADrawingThatComesWhileItIsBeingShown) {
    const auto scene = diamond();
    const auto other = grid(3, 40);
    OnShow filter([&] { minimap->setDrawing(other.get(), {}); });
    minimap->installEventFilter(&filter);
    minimap->setDrawing(scene.get(), {});
    ASSERT_TRUE(minimap->isVisible());
    // Of the drawing that came last: a press on its middle leads to that one's middle.
    QSignalSpy wanted(minimap, &Minimap::centreRequested);
    QTest::mouseClick(minimap, Qt::LeftButton, {}, minimap->rect().center());
    ASSERT_EQ(wanted.size(), 1);
    const QPointF middle = other->bounds.center();
    const auto to = wanted[0][0].toPointF();
    EXPECT_LT((to - middle).manhattanLength(), 0.1 * other->bounds.height());
    EXPECT_FALSE(minimap->grab().isNull());
}

} // namespace
} // namespace workbench::gui::test
