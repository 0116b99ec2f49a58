#include "app/draw/paint.h"
#include "tests/app/draw/drawn_scene.h"

#include <QImage>

#include <gtest/gtest.h>

namespace workbench {
namespace {

QImage painted(const Scene& scene, PaintOptions options) {
    QImage image((scene.bounds.size() * options.scale).toSize() + QSize(1, 1), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.scale(options.scale, options.scale);
    paintDiagram(painter, scene, options);
    return image;
}

std::int32_t indexOf(const Scene& scene, const std::string& key) {
    for (std::size_t i = 0; i < scene.diagram.boxes.size(); ++i)
        if (scene.diagram.boxes[i].key == key)
            return static_cast<std::int32_t>(i);
    return -1;
}

QRgb at(const QImage& image, const QPointF& point) {
    return image.pixel(point.toPoint());
}

/// The strip of a node's pattern.
QPointF stripOf(const Scene& scene, std::int32_t box) {
    const QRectF& rect = scene.boxes[static_cast<std::size_t>(box)];
    return {rect.left() + 5.5, rect.center().y()};
}

std::vector<NodeMark> marksOf(const DrawnModel& model, const Scene& scene, std::int32_t box, NodeMark mark) {
    std::vector<NodeMark> marks(model.graph.nodes.size());
    marks[static_cast<std::size_t>(scene.diagram.boxes[static_cast<std::size_t>(box)].node)] = mark;
    return marks;
}

TEST(Paint, AnAppliedSiteHasThePatternsColourAndTheLegendHidesIt) {
    const DrawnModel model = layeredModel({2});
    const auto scene = sceneOf(model, {"model.layers.0", {"*"}});
    ASSERT_TRUE(scene);
    const std::int32_t box = indexOf(*scene, "n:a0");
    ASSERT_GE(box, 0);
    const auto marks = marksOf(model, *scene, box, {NodeMark::State::applied, 3, 0});
    const SceneColours colours = coloursOf(scene->diagram, &marks, nullptr);
    PaintOptions options;
    options.colours = &colours;
    EXPECT_EQ(at(painted(*scene, options), stripOf(*scene, box)), Theme::light().slot(3).rgb());
    options.hiddenSlots = {3};
    EXPECT_EQ(at(painted(*scene, options), stripOf(*scene, box)), Theme::light().nodeFill.rgb());
}

TEST(Paint, AnOverlayColoursBoxesByTheirShare) {
    const DrawnModel model = layeredModel({2});
    const auto scene = sceneOf(model, {.scope = "model"});
    ASSERT_TRUE(scene);
    const Overlay overlay = weightBytes(model.graph);
    const SceneColours colours = coloursOf(scene->diagram, nullptr, &overlay);
    PaintOptions options;
    options.colours = &colours;
    const std::int32_t largest = indexOf(*scene, "m:model.embed");
    const QPointF corner = scene->boxes[static_cast<std::size_t>(largest)].bottomLeft() + QPointF(8, -3);
    EXPECT_EQ(at(painted(*scene, options), corner), Theme::light().overlay(1).rgb());
}

TEST(Paint, WhatIsOutsideOfTheVisiblePartIsSkipped) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    PaintOptions options;
    const QImage whole = painted(*scene, options);
    options.visible = QRectF(0, 0, scene->bounds.width(), scene->bounds.height() / 2);
    const QImage half = painted(*scene, options);
    const QRect upper(0, 0, whole.width(), whole.height() / 2 - 30);
    EXPECT_EQ(half.copy(upper), whole.copy(upper));
    EXPECT_NE(half, whole);
}

TEST(Paint, DetailsAppearCloseUpAlone) {
    const DrawnModel model = layeredModel({2});
    const auto scene = sceneOf(model, {.scope = "model"});
    ASSERT_TRUE(scene);
    Scene without = *scene;
    for (BoxText& text : without.texts)
        text.details.clear();
    PaintOptions options;
    EXPECT_NE(painted(*scene, options), painted(without, options));
    options.scale = 0.4;
    EXPECT_EQ(painted(*scene, options), painted(without, options));
}

TEST(Paint, NamesStayFarOut) {
    const DrawnModel model = layeredModel({2});
    const auto scene = sceneOf(model, {.scope = "model"});
    ASSERT_TRUE(scene);
    Scene without = *scene;
    for (BoxText& text : without.texts)
        text.title.clear();
    PaintOptions options;
    options.scale = 0.45;
    EXPECT_NE(painted(*scene, options), painted(without, options));
}

TEST(Paint, WeightsKeepTheirNamesFarOut) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    Scene without = *scene;
    bool anyBeside = false;
    for (std::size_t i = 0; i < without.texts.size(); ++i)
        if (without.diagram.boxes[i].beside >= 0) {
            without.texts[i].title.clear();
            anyBeside = true;
        }
    ASSERT_TRUE(anyBeside);
    PaintOptions options;
    options.scale = 0.5;
    EXPECT_NE(painted(*scene, options), painted(without, options));
}

TEST(Paint, ASelectionIsDrawnAroundItsBoxAndDimsTheOthers) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    const std::int32_t box = indexOf(*scene, "n:a0");
    PaintOptions options;
    options.highlights.resize(scene->boxes.size());
    options.highlights[static_cast<std::size_t>(box)] = Highlight::selected;
    const QRectF& rect = scene->boxes[static_cast<std::size_t>(box)];
    const QImage image = painted(*scene, options);
    EXPECT_EQ(at(image, {rect.left() - 3, rect.center().y()}), Theme::light().selection.rgb());
    options.dimOthers = true;
    EXPECT_NE(painted(*scene, options), image);
}

TEST(Paint, TheOutlineHasABlockPerBox) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    QImage image(scene->bounds.size().toSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paintOutline(painter, *scene, {});
    painter.end();
    for (std::size_t i = 0; i < scene->boxes.size(); ++i)
        if (scene->diagram.boxes[i].beside < 0) {
            EXPECT_NE(at(image, scene->boxes[i].center()), QColor(Qt::white).rgb()) << i;
        }
}

TEST(Legend, CountsTheSitesThatAreDrawn) {
    const DrawnModel model = layeredModel({2});
    const auto scene = sceneOf(model, {"model.layers.0", {"*"}});
    ASSERT_TRUE(scene);
    std::vector<NodeMark> marks(model.graph.nodes.size());
    marks[1] = marks[2] = {NodeMark::State::applied, 3, 0};
    marks[3] = {NodeMark::State::offered, 3, 1};
    marks[0] = {NodeMark::State::applied, 2, 2}; // the embedding is not in this scope
    const std::vector<LegendEntry> entries = legendOf(scene->diagram, marks);
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].applied, 1);
    EXPECT_EQ(entries[0].offered, 1);
}

TEST(Legend, BreaksIntoRows) {
    startHeadlessDrawing();
    Legend legend;
    for (const char* name : {"attention", "qkv", "gate-up"})
        legend.entries.push_back({0, name, 28});
    EXPECT_GT(legendSize(legend, 150).height(), legendSize(legend, 2000).height());
    EXPECT_EQ(legendSize({}, 100).height(), 0);
}

} // namespace
} // namespace workbench
