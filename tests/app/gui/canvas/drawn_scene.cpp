#include "tests/app/gui/canvas/drawn_scene.h"

#include "app/draw/measure.h"

namespace workbench::gui::test {
namespace {

std::int32_t addBox(Scene& scene, const std::string& title, const QRectF& rect) {
    const auto id = static_cast<std::int32_t>(scene.boxes.size());
    Box box;
    box.key = "n:" + title;
    box.title = title;
    box.details = {"dim -1"};
    box.node = id;
    box.nodes = {id};
    scene.texts.push_back(textOf(box));
    scene.diagram.boxes.push_back(std::move(box));
    scene.boxes.push_back(rect);
    scene.bounds |= rect;
    return id;
}

void addEdge(Scene& scene, std::int32_t from, std::int32_t to) {
    Edge edge;
    edge.from = from;
    edge.to = to;
    edge.label = "f32[1, T, 32]";
    const QRectF a = scene.boxes[static_cast<std::size_t>(from)],
                 b = scene.boxes[static_cast<std::size_t>(to)];
    const QPointF start(a.center().x(), a.bottom()), tip(b.center().x(), b.top());
    QPainterPath path(start);
    path.cubicTo(start + QPointF(0, 12), tip - QPointF(0, 12), tip);
    scene.diagram.edges.push_back(edge);
    scene.lines.push_back(QPolygonF({start, tip}));
    scene.arrows.push_back(QPolygonF({tip, tip + QPointF(-3, -7), tip + QPointF(3, -7)}));
    const QPointF middle = (start + tip) / 2;
    scene.labels.push_back(QRectF(middle + QPointF(6, -7), QSizeF(84, 14)));
    scene.edgeBounds.push_back(path.boundingRect() | scene.labels.back());
    scene.edges.push_back(std::move(path));
}

} // namespace

std::shared_ptr<const Scene> diamond() {
    auto scene = std::make_shared<Scene>();
    addBox(*scene, "x", {200, 0, 120, 40});
    addBox(*scene, "left", {100, 100, 120, 40});
    addBox(*scene, "right", {300, 100, 120, 40});
    addBox(*scene, "sum", {200, 200, 120, 40});
    addBox(*scene, "block", {200, 300, 120, 40});
    addBox(*scene, "w", {0, 105, 80, 30});
    Box& block = scene->diagram.boxes[kBlock];
    block.kind = Box::Kind::module;
    block.key = "m:block";
    block.module = "block";
    block.node = kNone;
    block.expandable = true;
    Box& weight = scene->diagram.boxes[kWeight];
    weight.kind = Box::Kind::value;
    weight.role = Box::Role::parameter;
    weight.beside = kLeft;
    weight.node = kNone;
    weight.nodes.clear();
    addEdge(*scene, kX, kLeft);
    addEdge(*scene, kX, kRight);
    addEdge(*scene, kLeft, kSum);
    addEdge(*scene, kRight, kSum);
    addEdge(*scene, kSum, kBlock);
    return scene;
}

std::shared_ptr<const Scene> grid(int columns, int rows) {
    auto scene = std::make_shared<Scene>();
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            addBox(*scene, "node_" + std::to_string(row) + "_" + std::to_string(column),
                   {column * 170.0, row * 90.0, 130, 50});
    for (std::int32_t box = columns; box < columns * rows; ++box)
        addEdge(*scene, box - columns, box);
    return scene;
}

} // namespace workbench::gui::test
