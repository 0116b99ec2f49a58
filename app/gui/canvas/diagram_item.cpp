#include "app/gui/canvas/diagram_item.h"

#include <QtWidgets/QStyleOptionGraphicsItem>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr double kOutside = 12; // arrows, shadows and signs reach beyond the layout's bounds
constexpr double kToggle = 16, kToggleInset = 5;
constexpr double kLeastToggle = 7; // device pixels: smaller ones cannot be hit
constexpr double kSignRadius = 9;
constexpr double kLeastSign = 5; // device pixels: below, a sign is a dot

struct Sign {
    QString text;
    QColor colour;
};

Sign signOf(Highlight highlight, const Theme& theme) {
    switch (highlight) {
    case Highlight::added:
        return {QStringLiteral("+"), theme.added};
    case Highlight::removed:
        return {QStringLiteral("−"), theme.removed};
    case Highlight::merged:
        return {QStringLiteral("Σ"), theme.merged};
    default:
        return {};
    }
}

} // namespace

bool togglesShow(double scale) {
    return kToggle * scale >= kLeastToggle;
}

QRectF toggleOf(const Scene& scene, std::int32_t box) {
    const QRectF rect = scene.boxes[static_cast<std::size_t>(box)];
    // On the border of a closed box, so that it hides no text; in the head of an opened one.
    const QPointF corner = boxAt(scene, box).expanded
                               ? QPointF(rect.right() - kToggle - kToggleInset, rect.top() + kToggleInset)
                               : QPointF(rect.right() - kToggle / 2, rect.center().y() - kToggle / 2);
    return {corner, QSizeF(kToggle, kToggle)};
}

std::int32_t toggleAt(const Scene& scene, const QPointF& point) {
    for (std::size_t i = scene.boxes.size(); i-- > 0;)
        if (scene.diagram.boxes[i].expandable &&
            toggleOf(scene, static_cast<std::int32_t>(i)).contains(point))
            return static_cast<std::int32_t>(i);
    return -1;
}

DiagramItem::DiagramItem() {
    setFlag(ItemUsesExtendedStyleOption); // else every frame would be told that all of it is exposed
}

void DiagramItem::setScene(std::shared_ptr<const Scene> scene) {
    prepareGeometryChange();
    m_scene = std::move(scene);
    options.highlights.clear();
    options.dimOthers = false;
    options.hoveredEdge = -1;
    signs.clear();
}

QRectF DiagramItem::boundingRect() const {
    return m_scene ? m_scene->bounds.adjusted(-kOutside, -kOutside, kOutside, kOutside) : QRectF();
}

void DiagramItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) {
    paintPart(*painter, option->exposedRect);
    paintHovered(*painter);
}

void DiagramItem::paintHovered(QPainter& painter) const {
    if (!m_scene)
        return;
    PaintOptions frame = options;
    frame.scale = painter.worldTransform().m11();
    paintHoveredEdge(painter, *m_scene, frame);
}

void DiagramItem::paintPart(QPainter& painter, const QRectF& part) const {
    painter.fillRect(part, (options.theme ? *options.theme : Theme::light()).background);
    if (!m_scene)
        return;
    PaintOptions frame = options;
    frame.background = false;
    frame.hoveredEdge = -1;
    frame.scale = painter.worldTransform().m11();
    frame.visible = part;
    painter.setRenderHint(QPainter::Antialiasing);
    paintDiagram(painter, *m_scene, frame);
    paintToggles(painter, frame.scale, frame.visible);
    if (!signs.empty())
        paintSigns(painter, frame.scale, frame.visible);
}

void DiagramItem::paintToggles(QPainter& painter, double scale, const QRectF& visible) const {
    if (!togglesShow(scale))
        return;
    const Theme& theme = options.theme ? *options.theme : Theme::light();
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < m_scene->boxes.size(); ++i) {
        const Box& box = m_scene->diagram.boxes[i];
        if (!box.expandable || !visible.intersects(m_scene->boxes[i].adjusted(0, 0, kToggle, 0)))
            continue;
        const QRectF toggle = toggleOf(*m_scene, static_cast<std::int32_t>(i));
        painter.setPen(QPen(theme.mutedText, 1));
        painter.setBrush(theme.background);
        painter.drawRoundedRect(toggle, 4, 4);
        painter.setPen(QPen(theme.text, 1.5));
        const QPointF middle = toggle.center();
        painter.drawLine(middle - QPointF(4, 0), middle + QPointF(4, 0));
        if (!box.expanded)
            painter.drawLine(middle - QPointF(0, 4), middle + QPointF(0, 4));
    }
}

void DiagramItem::paintSigns(QPainter& painter, double scale, const QRectF& visible) const {
    const Theme& theme = options.theme ? *options.theme : Theme::light();
    const double radius = std::max(kSignRadius, kLeastSign / std::max(scale, 1e-6));
    painter.setFont(drawingFont(radius * 1.5, true));
    for (std::size_t i = 0; i < signs.size() && i < m_scene->boxes.size(); ++i) {
        const Sign sign = signOf(signs[i], theme);
        if (sign.text.isEmpty() ||
            !visible.intersects(m_scene->boxes[i].adjusted(-radius, -radius, radius, radius)))
            continue;
        const QRectF disc(m_scene->boxes[i].topLeft() - QPointF(radius, radius) * 0.8,
                          QSizeF(2 * radius, 2 * radius));
        painter.setPen(QPen(theme.background, 1.5));
        painter.setBrush(sign.colour);
        painter.drawEllipse(disc);
        if (radius * scale < kLeastSign)
            continue;
        painter.setPen(theme.textOn(sign.colour));
        painter.drawText(disc, Qt::AlignCenter, sign.text);
    }
}

} // namespace workbench::gui
