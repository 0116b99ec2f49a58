#pragma once

#include "app/diagram/colours.h"
#include "app/diagram/diagram.h"
#include "app/diagram/overlay.h"
#include "core/layout/layout.h"

#include <QPainterPath>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>
#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace workbench {

/// The texts of a box, cut to what fits at scale 1.
struct BoxText {
    QString title, subtitle;
    QStringList details;
    double titleWidth = 0; ///< at scale 1
};

/// A diagram with its positions: all that is needed to paint it. Immutable once made, so that threads share
/// it.
struct Scene {
    Diagram diagram;
    std::vector<QRectF> boxes;       ///< as Diagram::boxes, those beside others included
    std::vector<BoxText> texts;      ///< as Diagram::boxes
    std::vector<QPainterPath> edges; ///< as Diagram::edges, up to the arrow
    std::vector<QPolygonF> lines;    ///< the same as straight pieces, for far out
    std::vector<QPolygonF> arrows;   ///< as Diagram::edges
    std::vector<QRectF> edgeBounds;  ///< for culling: path, arrow and label
    std::vector<QRectF> labels;      ///< as Diagram::edges; null: no label
    QRectF bounds;
};

/// By its place in Scene::boxes.
inline const Box& boxAt(const Scene& scene, std::int32_t box) {
    return scene.diagram.boxes[static_cast<std::size_t>(box)];
}

/// What is laid over a scene. Made once per change of decisions or overlay, not per frame.
struct SceneColours {
    std::vector<std::vector<BoxMark>> marks; ///< as Diagram::boxes; empty: no patterns shown
    std::vector<double> shares; ///< as Diagram::boxes: total by the largest one, NaN: none; empty: no overlay
    std::vector<QString> totals; ///< as Diagram::boxes: "7.1 MiB"
};
SceneColours coloursOf(const Diagram& diagram, const std::vector<NodeMark>* marks, const Overlay* overlay);

/// Size of a box by its texts at scale 1.
QSizeF boxSize(const Box& box);

/// The layout problem of a diagram: boxes that stand beside others are part of those.
LayoutGraph layoutGraphOf(const Diagram& diagram);

/// Measures, lays out, and puts together. Needs a QGuiApplication; any thread.
Result<std::shared_ptr<const Scene>> makeScene(Diagram diagram, LayoutEngine& engine,
                                               const CancelToken* cancel);

/// The topmost box at a point, -1: none. Edges within `distance` of a point, -1: none.
std::int32_t boxAt(const Scene& scene, const QPointF& point);
std::int32_t edgeAt(const Scene& scene, const QPointF& point, double distance);

} // namespace workbench
