#pragma once

#include "app/diagram/colours.h"
#include "app/diagram/diagram.h"
#include "app/diagram/overlay.h"
#include "core/layout/layout.h"

#include <QPainterPath>
#include <QRectF>
#include <QSizeF>

#include <memory>
#include <vector>

namespace workbench {

/// A diagram with its positions: all that is needed to paint it. Immutable once made, so that threads share
/// it.
struct Scene {
    Diagram diagram;
    std::vector<QRectF> boxes;       ///< as Diagram::boxes, those beside others included
    std::vector<QPainterPath> edges; ///< as Diagram::edges
    std::vector<QRectF> edgeBounds;  ///< for culling: path, arrow and label
    std::vector<QRectF> labels;      ///< as Diagram::edges; empty: no label
    QRectF bounds;
};

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
