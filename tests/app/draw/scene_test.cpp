#include "app/draw/measure.h"
#include "app/draw/theme.h"
#include "tests/app/draw/drawn_scene.h"

#include <QFontMetricsF>

#include <gtest/gtest.h>

namespace workbench {
namespace {

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

bool isInside(const Diagram& diagram, std::int32_t box, std::int32_t container) {
    while (box >= 0 && box != container)
        box = diagram.boxes[at(box)].parent;
    return box == container;
}

TEST(Scene, BoxesOverlapOnlyWithWhatContainsThem) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    const auto count = static_cast<std::int32_t>(scene->boxes.size());
    for (std::int32_t a = 0; a < count; ++a)
        for (std::int32_t b = 0; b < a; ++b)
            if (!isInside(scene->diagram, a, b)) {
                EXPECT_FALSE(scene->boxes[at(a)].intersects(scene->boxes[at(b)]))
                    << scene->diagram.boxes[at(a)].key << " " << scene->diagram.boxes[at(b)].key;
            }
}

TEST(Scene, EverythingLiesInItsContainerAndInTheBounds) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    for (std::size_t i = 0; i < scene->boxes.size(); ++i) {
        EXPECT_TRUE(scene->bounds.contains(scene->boxes[i])) << scene->diagram.boxes[i].key;
        if (const std::int32_t parent = scene->diagram.boxes[i].parent; parent >= 0) {
            EXPECT_TRUE(scene->boxes[at(parent)].contains(scene->boxes[i])) << scene->diagram.boxes[i].key;
        }
    }
}

TEST(Scene, TextsFitIntoTheirBoxes) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    const QFontMetricsF metrics(drawingFont(kTextPixels));
    for (std::size_t i = 0; i < scene->boxes.size(); ++i) {
        if (scene->diagram.boxes[i].expanded)
            continue;
        EXPECT_LT(scene->texts[i].titleWidth, scene->boxes[i].width()) << scene->diagram.boxes[i].key;
        for (const QString& detail : scene->texts[i].details)
            EXPECT_LT(metrics.horizontalAdvance(detail), scene->boxes[i].width()) << detail.toStdString();
    }
}

TEST(Scene, LongNamesAreCut) {
    startHeadlessDrawing();
    Box box;
    box.title = std::string(300, 'n');
    EXPECT_LT(boxSize(box).width(), 300);
    EXPECT_NE(textOf(box).title, QString::fromStdString(box.title));
}

TEST(Scene, ParametersStandBesideTheirNodeAtItsHeight) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    int pills = 0;
    for (std::size_t i = 0; i < scene->boxes.size(); ++i)
        if (const std::int32_t user = scene->diagram.boxes[i].beside; user >= 0) {
            ++pills;
            EXPECT_LT(scene->boxes[i].right(), scene->boxes[at(user)].left());
            EXPECT_NEAR(scene->boxes[i].center().y(), scene->boxes[at(user)].center().y(), 1);
        }
    EXPECT_EQ(pills, 2);
}

TEST(Scene, ArrowsPointAtTheBoxThatTheEdgeLeadsTo) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    for (std::size_t i = 0; i < scene->edges.size(); ++i) {
        const QRectF& target = scene->boxes[at(scene->diagram.edges[i].to)];
        EXPECT_TRUE(target.adjusted(-2, -2, 2, 2).contains(scene->arrows[i].first())) << i;
        EXPECT_FALSE(target.adjusted(2, 2, -2, -2).contains(scene->arrows[i].first())) << i;
    }
}

TEST(Scene, TheInnermostBoxIsAtAPoint) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    for (std::size_t i = 0; i < scene->boxes.size(); ++i)
        if (!scene->diagram.boxes[i].expanded) {
            EXPECT_EQ(boxAt(*scene, scene->boxes[i].center()), static_cast<std::int32_t>(i));
        }
    EXPECT_EQ(boxAt(*scene, scene->bounds.bottomRight() + QPointF(50, 50)), -1);
}

TEST(Scene, TheNearestEdgeIsAtAPoint) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    const QPointF middle = scene->edges[0].pointAtPercent(0.5);
    EXPECT_EQ(edgeAt(*scene, middle + QPointF(1, 0), 4), 0);
    EXPECT_EQ(edgeAt(*scene, scene->bounds.bottomRight() + QPointF(50, 50), 4), -1);
}

TEST(Scene, AFailedLayoutIsTheScenesError) {
    startHeadlessDrawing();
    const DrawnModel model = layeredModel({2});
    LayoutEngine engine("/nonexistent/helper", {});
    const auto scene = makeScene(buildDiagram(model.graph, model.tree, {}), engine, nullptr);
    ASSERT_FALSE(scene);
    EXPECT_NE(scene.error().message.find("/nonexistent/helper"), std::string::npos);
}

} // namespace
} // namespace workbench
