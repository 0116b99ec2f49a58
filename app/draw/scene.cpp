#include "app/draw/scene.h"

#include "app/draw/measure.h"

#include <QLineF>

#include <algorithm>
#include <cmath>
#include <limits>

namespace workbench {
namespace {

constexpr std::size_t kMostAtOneSide = 3;

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

/// A diagram measured: sizes, texts, and which boxes stand beside which.
struct Measured {
    std::vector<BoxText> texts;
    std::vector<QSizeF> sizes;
    std::vector<Beside> beside; ///< by box
};

void place(std::vector<std::int32_t>& side, double& width, Beside& beside, std::int32_t box,
           const std::vector<QSizeF>& sizes) {
    side.push_back(box);
    width = std::max(width, sizes[at(box)].width() + kPillDistance);
    double height = -kPillGap;
    for (const std::int32_t other : side)
        height += sizes[at(other)].height() + kPillGap;
    beside.height = std::max(beside.height, height);
}

Measured measure(const Diagram& diagram) {
    Measured measured;
    measured.beside.resize(diagram.boxes.size());
    std::vector<std::size_t> counts(diagram.boxes.size(), 0);
    for (const Box& box : diagram.boxes) {
        measured.texts.push_back(textOf(box));
        measured.sizes.push_back(sizeOf(box, measured.texts.back()));
        if (box.beside >= 0)
            ++counts[at(box.beside)];
    }
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const std::int32_t user = diagram.boxes[i].beside;
        if (user < 0)
            continue;
        Beside& beside = measured.beside[at(user)];
        const std::size_t onLeft =
            counts[at(user)] <= kMostAtOneSide ? kMostAtOneSide : (counts[at(user)] + 1) / 2;
        const auto box = static_cast<std::int32_t>(i);
        if (beside.left.size() < onLeft)
            place(beside.left, beside.leftWidth, beside, box, measured.sizes);
        else
            place(beside.right, beside.rightWidth, beside, box, measured.sizes);
    }
    return measured;
}

LayoutGraph layoutGraph(const Diagram& diagram, const Measured& measured) {
    LayoutGraph graph;
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
        const Box& box = diagram.boxes[i];
        if (box.beside >= 0)
            continue; // they come last: the indices of the others stay
        const Beside& beside = measured.beside[i];
        const QSizeF size = measured.sizes[i];
        LayoutBox made{size.width() + beside.leftWidth + beside.rightWidth,
                       std::max(size.height(), beside.height), box.parent};
        made.left = std::ceil(beside.leftWidth);
        made.right = std::ceil(beside.rightWidth);
        made.width = size.width() + made.left + made.right;
        if (box.expanded)
            made = {size.width() + 40, 0, box.parent, kHeader - 10};
        graph.boxes.push_back(made);
    }
    for (const Edge& edge : diagram.edges) {
        const QSizeF label = labelSize(edge.label);
        graph.edges.push_back({edge.from, edge.to, {label.width(), label.height()}});
    }
    return graph;
}

QPointF pointOf(const Point& point) {
    return {point.x, point.y};
}

void placeSide(Scene& scene, const std::vector<std::int32_t>& side, const QRectF& user, bool isLeft,
               const std::vector<QSizeF>& sizes) {
    double height = -kPillGap;
    for (const std::int32_t box : side)
        height += sizes[at(box)].height() + kPillGap;
    double y = user.center().y() - height / 2;
    for (const std::int32_t box : side) {
        const QSizeF size = sizes[at(box)];
        const double x = isLeft ? user.left() - kPillDistance - size.width() : user.right() + kPillDistance;
        scene.boxes[at(box)] = {QPointF(x, y), size};
        y += size.height() + kPillGap;
    }
}

void placeBoxes(Scene& scene, const Layout& layout, const LayoutGraph& graph, const Measured& measured) {
    scene.boxes.resize(scene.diagram.boxes.size());
    for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
        const Rect& rect = layout.boxes[i];
        const LayoutBox& asked = graph.boxes[i];
        scene.boxes[i] = {rect.x + asked.left, rect.y, rect.width - asked.left - asked.right, rect.height};
        placeSide(scene, measured.beside[i].left, scene.boxes[i], true, measured.sizes);
        placeSide(scene, measured.beside[i].right, scene.boxes[i], false, measured.sizes);
    }
}

/// The direction in which a curve ends: from the last control point that is not the end itself.
QPointF endDirection(const std::vector<Point>& points) {
    const QPointF end = pointOf(points.back());
    for (std::size_t i = points.size() - 1; i-- > 0;) {
        const QPointF delta = end - pointOf(points[i]);
        if (const double length = std::hypot(delta.x(), delta.y()); length > 0.5)
            return delta / length;
    }
    return {0, 1};
}

void addEdge(Scene& scene, const std::vector<Point>& points, const Rect& label) {
    const QPointF tip = pointOf(points.back());
    const QPointF along = endDirection(points);
    const QPointF across(-along.y(), along.x());
    const QPointF base = tip - along * kArrowLength;
    QPainterPath path(pointOf(points.front()));
    for (std::size_t i = 1; i + 2 < points.size(); i += 3) {
        const bool isLast = i + 3 >= points.size();
        path.cubicTo(pointOf(points[i]),
                     isLast ? pointOf(points[i + 1]) - along * kArrowLength : pointOf(points[i + 1]),
                     isLast ? base : pointOf(points[i + 2]));
    }
    scene.arrows.push_back(
        QPolygonF({tip, base + across * (kArrowWidth / 2), base - across * (kArrowWidth / 2)}));
    scene.labels.push_back(label.width > 0 ? QRectF(label.x, label.y, label.width, label.height) : QRectF());
    scene.edgeBounds.push_back(
        path.controlPointRect().united(scene.arrows.back().boundingRect()).united(scene.labels.back()));
    scene.edges.push_back(std::move(path));
}

/// A polyline for far out: two pieces per curve show no corner at that size.
QPolygonF straight(const std::vector<Point>& points) {
    QPolygonF line{pointOf(points.front())};
    for (std::size_t i = 1; i + 2 < points.size(); i += 3) {
        const QPointF middle =
            (line.back() + 3 * pointOf(points[i]) + 3 * pointOf(points[i + 1]) + pointOf(points[i + 2])) / 8;
        line << middle << pointOf(points[i + 2]);
    }
    return line;
}

} // namespace

LayoutGraph layoutGraphOf(const Diagram& diagram) {
    return layoutGraph(diagram, measure(diagram));
}

Result<std::shared_ptr<const Scene>> makeScene(Diagram diagram, LayoutEngine& engine,
                                               const CancelToken* cancel) {
    Measured measured = measure(diagram);
    const LayoutGraph graph = layoutGraph(diagram, measured);
    auto layout = engine.layOut(graph, {}, cancel);
    if (!layout)
        return layout.error();
    auto scene = std::make_shared<Scene>();
    scene->diagram = std::move(diagram);
    placeBoxes(*scene, *layout, graph, measured);
    scene->texts = std::move(measured.texts);
    for (std::size_t i = 0; i < layout->edges.size(); ++i) {
        addEdge(*scene, layout->edges[i], layout->labels[i]);
        scene->lines.push_back(straight(layout->edges[i]));
    }
    scene->bounds = {layout->bounds.x, layout->bounds.y, layout->bounds.width, layout->bounds.height};
    return std::shared_ptr<const Scene>(std::move(scene));
}

SceneColours coloursOf(const Diagram& diagram, const std::vector<NodeMark>* marks, const Overlay* overlay) {
    SceneColours colours;
    if (marks)
        for (const Box& box : diagram.boxes)
            colours.marks.push_back(marksOf(box, *marks));
    if (!overlay)
        return colours;
    const double end = largestTotal(*overlay, diagram);
    for (const Box& box : diagram.boxes) {
        const double total = totalOf(*overlay, box);
        colours.shares.push_back(end > 0 ? total / end : std::numeric_limits<double>::quiet_NaN());
        colours.totals.push_back(QString::fromStdString(overlayText(*overlay, total)));
    }
    return colours;
}

std::int32_t boxAt(const Scene& scene, const QPointF& point) {
    for (auto i = static_cast<std::int32_t>(scene.boxes.size()) - 1; i >= 0; --i)
        if (scene.boxes[at(i)].contains(point))
            return i; // what is inside of a box comes after it
    return -1;
}

std::int32_t edgeAt(const Scene& scene, const QPointF& point, double distance) {
    std::int32_t nearest = -1;
    double best = distance;
    for (std::size_t i = 0; i < scene.edges.size(); ++i) {
        if (!scene.edgeBounds[i].adjusted(-distance, -distance, distance, distance).contains(point))
            continue;
        const QPolygonF line = scene.edges[i].toSubpathPolygons().value(0);
        for (qsizetype k = 0; k + 1 < line.size(); ++k) {
            const QPointF along = line[k + 1] - line[k];
            const double squared = QPointF::dotProduct(along, along);
            const double share =
                squared > 0 ? std::clamp(QPointF::dotProduct(point - line[k], along) / squared, 0.0, 1.0) : 0;
            const double away = QLineF(point, line[k] + along * share).length();
            if (away <= best) {
                best = away;
                nearest = static_cast<std::int32_t>(i);
            }
        }
    }
    return nearest;
}

} // namespace workbench
