#pragma once

#include "app/draw/scene.h"
#include "app/draw/theme.h"

#include <QPainter>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace workbench {

/// How a box is told apart from the others.
enum class Highlight : std::uint8_t { none, selected, producer, consumer, searchHit, added, removed, merged };

struct PaintOptions {
    const Theme* theme = nullptr; ///< nullptr: light
    double scale = 1;             ///< of the painter: what is readable at it is drawn (semantic zoom)
    QRectF visible;               ///< in scene coordinates: what lies outside is skipped; null: all
    bool background = true;
    const SceneColours* colours = nullptr;
    std::set<std::int32_t> hiddenSlots; ///< patterns that the legend has switched off
    std::vector<Highlight> highlights;  ///< as Diagram::boxes; empty: none
    bool dimOthers = false;             ///< boxes without a highlight fade
    std::int32_t hoveredEdge = -1;
};

/// Paints in scene coordinates: the caller has set the painter's transform. Any thread, one painter each.
void paintDiagram(QPainter& painter, const Scene& scene, const PaintOptions& options);
/// The edge `hoveredEdge` alone, over a drawing that was painted without it.
void paintHoveredEdge(QPainter& painter, const Scene& scene, const PaintOptions& options);
/// Boxes as small blocks without text, for a minimap.
void paintOutline(QPainter& painter, const Scene& scene, const PaintOptions& options);

/// A pattern of the drawing, for the legend.
struct LegendEntry {
    std::int32_t slot = -1;
    std::string pattern;
    std::int64_t applied = 0, offered = 0, rejected = 0, refused = 0, present = 0; ///< sites in this diagram
};
/// In the order of the slots.
std::vector<LegendEntry> legendOf(const Diagram& diagram, const std::vector<NodeMark>& marks);

/// What stands below a picture: the patterns, and the overlay's scale.
struct Legend {
    std::vector<LegendEntry> entries;
    QString overlay;    ///< "weights"; empty: none
    QString overlayEnd; ///< "7.1 MiB"
};
/// The lines of a legend that may be `width` wide.
QSizeF legendSize(const Legend& legend, double width);
void paintLegend(QPainter& painter, const QRectF& place, const Legend& legend, const Theme& theme);

} // namespace workbench
