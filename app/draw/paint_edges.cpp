#include "app/draw/measure.h"
#include "app/draw/paint_parts.h"
#include "app/draw/shaped_text.h"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

constexpr double kEdgeWidth = 1.3, kManyValuesWidth = 2.0, kHoveredWidth = 2.6;
constexpr double kLeastPixels = 0.9; ///< on the screen: thinner lines fade into the background
constexpr double kDimmed = 0.25;

} // namespace

bool Painting::isEdgeDimmed(std::size_t index) const {
    const Edge& edge = m_scene.diagram.edges[index];
    return isDimmed(at(edge.from)) || isDimmed(at(edge.to));
}

void Painting::edge(std::size_t index) {
    const Edge& edge = m_scene.diagram.edges[index];
    const bool isHovered = static_cast<std::int32_t>(index) == m_options.hoveredEdge;
    const Highlight from = highlightOf(at(edge.from));
    const Highlight to = highlightOf(at(edge.to));
    QColor colour = m_theme.edge;
    double width = edge.values > 1 ? kManyValuesWidth : kEdgeWidth;
    if (from == Highlight::producer && to == Highlight::selected)
        colour = m_theme.producer, width = kManyValuesWidth;
    else if (from == Highlight::selected && to == Highlight::consumer)
        colour = m_theme.consumer, width = kManyValuesWidth;
    if (isHovered)
        colour = m_theme.selection, width = kHoveredWidth;
    if (isEdgeDimmed(index))
        colour.setAlphaF(static_cast<float>(kDimmed));
    if (!m_isFine) {
        m_painter.setPen(QPen(colour, 0)); // a cosmetic line takes Qt's fast way
        m_painter.drawPolyline(m_scene.lines[index]);
        return;
    }
    m_painter.setPen(QPen(colour, std::max(width, kLeastPixels / m_options.scale)));
    m_painter.setBrush(Qt::NoBrush);
    m_painter.drawPath(m_scene.edges[index]);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(colour);
    m_painter.drawPolygon(m_scene.arrows[index]);
}

void Painting::edgeLabel(std::size_t index) {
    const QRectF& place = m_scene.labels[index];
    if (place.isNull() || !isVisible(place))
        return;
    QColor colour = m_theme.edgeText;
    if (isEdgeDimmed(index))
        colour.setAlphaF(static_cast<float>(kDimmed));
    m_painter.setPen(colour);
    paintLine(m_painter, place, Qt::AlignCenter, QString::fromStdString(m_scene.diagram.edges[index].label),
              kLabelPixels);
}

void Painting::hovered() {
    m_painter.setRenderHint(QPainter::Antialiasing, m_isFine);
    edge(at(m_options.hoveredEdge));
}

void Painting::edges() {
    m_painter.setRenderHint(QPainter::Antialiasing, m_isFine);
    for (std::size_t i = 0; i < m_scene.edges.size(); ++i)
        if (isVisible(m_scene.edgeBounds[i]))
            edge(i);
    if (!m_showsTexts)
        return;
    for (std::size_t i = 0; i < m_scene.edges.size(); ++i)
        edgeLabel(i);
}

} // namespace workbench
