#include "app/draw/paint.h"

#include "app/draw/measure.h"
#include "app/draw/paint_parts.h"

namespace workbench {
namespace {

/// Texts of 11 units take some 7 pixels there: the least that can be read.
constexpr double kTextScale = 0.62;
/// Below, a corner or a slanted line is about a pixel: smoothing costs time and shows nothing.
constexpr double kFineScale = 0.3;
constexpr double kMargin = 24; // shadows, badges and highlights reach out of their box

} // namespace

Painting::Painting(QPainter& painter, const Scene& scene, const PaintOptions& options)
    : m_painter(painter), m_scene(scene), m_options(options),
      m_theme(options.theme ? *options.theme : Theme::light()),
      m_visible((options.visible.isNull() ? scene.bounds.adjusted(-200, -200, 200, 200) : options.visible)
                    .adjusted(-kMargin, -kMargin, kMargin, kMargin)),
      m_showsTexts(options.scale >= kTextScale), m_isFine(options.scale >= kFineScale) {}

bool Painting::isVisible(const QRectF& rect) const {
    // Straight edges have no width: QRectF::intersects calls them empty.
    return rect.left() <= m_visible.right() && rect.right() >= m_visible.left() &&
           rect.top() <= m_visible.bottom() && rect.bottom() >= m_visible.top();
}

Highlight Painting::highlightOf(std::size_t box) const {
    return box < m_options.highlights.size() ? m_options.highlights[box] : Highlight::none;
}

QColor Painting::colourOf(Highlight highlight) const {
    switch (highlight) {
    case Highlight::selected:
        return m_theme.selection;
    case Highlight::producer:
        return m_theme.producer;
    case Highlight::consumer:
        return m_theme.consumer;
    case Highlight::searchHit:
        return m_theme.searchHit;
    case Highlight::added:
        return m_theme.added;
    case Highlight::removed:
        return m_theme.removed;
    case Highlight::merged:
        return m_theme.merged;
    case Highlight::none:
        break;
    }
    return m_theme.nodeBorder;
}

bool Painting::isDimmed(std::size_t box) const {
    if (!m_options.dimOthers || highlightOf(box) != Highlight::none)
        return false;
    const std::int32_t beside = m_scene.diagram.boxes[box].beside;
    return beside < 0 || highlightOf(at(beside)) == Highlight::none;
}

void Painting::outline() {
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    for (std::size_t i = 0; i < m_scene.boxes.size(); ++i) {
        const Box& box = m_scene.diagram.boxes[i];
        if (box.beside >= 0)
            continue;
        const Look look = lookOf(i);
        const Highlight highlight = highlightOf(i);
        const BoxMark* mark = strongestMark(i);
        QColor fill = box.expanded ? look.fill : mark ? m_theme.slot(mark->slot) : m_theme.edge;
        if (highlight != Highlight::none)
            fill = colourOf(highlight);
        m_painter.fillRect(m_scene.boxes[i], fill);
    }
}

void paintDiagram(QPainter& painter, const Scene& scene, const PaintOptions& options) {
    painter.save();
    Painting painting(painter, scene, options);
    if (options.background)
        painter.fillRect(options.visible.isNull() ? scene.bounds : options.visible,
                         (options.theme ? *options.theme : Theme::light()).background);
    painting.containers();
    painting.edges();
    painting.boxes();
    painting.containerTitles();
    painter.restore();
}

void paintHoveredEdge(QPainter& painter, const Scene& scene, const PaintOptions& options) {
    if (options.hoveredEdge < 0)
        return;
    painter.save();
    Painting(painter, scene, options).hovered();
    painter.restore();
}

void paintOutline(QPainter& painter, const Scene& scene, const PaintOptions& options) {
    painter.save();
    Painting(painter, scene, options).outline();
    painter.restore();
}

} // namespace workbench
