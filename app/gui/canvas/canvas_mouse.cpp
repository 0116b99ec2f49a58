#include "app/gui/canvas/canvas_view.h"

#include <QtGui/QContextMenuEvent>
#include <QtGui/QNativeGestureEvent>
#include <QtWidgets/QApplication>
#include <QtWidgets/QGestureEvent>
#include <QtWidgets/QPinchGesture>
#include <QtWidgets/QToolTip>

#include <algorithm>
#include <cmath>

/// Mouse, wheel and fingers on the canvas.

namespace workbench::gui {
namespace {

constexpr double kWheelBase = 1.0015; // to the power of an eighth of a degree: 1.2 for a click of the wheel
constexpr int kEdgeReach = 5;         // device pixels

} // namespace

std::int32_t CanvasView::boxUnder(const QPoint& position) const {
    return drawn() ? boxAt(*drawn(), mapToScene(position)) : -1;
}

std::int32_t CanvasView::toggleUnder(const QPoint& position) const {
    return drawn() && togglesShow(zoom()) ? toggleAt(*drawn(), mapToScene(position)) : -1;
}

void CanvasView::wheelEvent(QWheelEvent* event) {
    const bool fingers = event->phase() != Qt::NoScrollPhase && !event->pixelDelta().isNull();
    const QPoint angle = event->angleDelta();
    if (fingers && !(event->modifiers() & Qt::ControlModifier)) {
        moveBy(-event->pixelDelta());
    } else if (event->modifiers() & (Qt::ShiftModifier | Qt::AltModifier)) {
        const int turned = angle.y() != 0 ? angle.y() : angle.x();
        moveBy({-turned, 0});
    } else {
        zoomTo(zoom() * std::pow(kWheelBase, angle.y()), event->position());
    }
    event->accept();
}

void CanvasView::mousePressEvent(QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton)
        m_pressed = event->pos();
    event->accept();
}

void CanvasView::mouseMoveEvent(QMouseEvent* event) {
    if (!m_pressed) {
        hover(event->pos());
        return;
    }
    if (!m_dragged && (event->pos() - *m_pressed).manhattanLength() < QApplication::startDragDistance())
        return;
    if (!m_dragged)
        viewport()->setCursor(Qt::ClosedHandCursor);
    const QPoint moved = event->pos() - m_dragged.value_or(*m_pressed);
    m_dragged = event->pos();
    moveBy(-moved);
}

void CanvasView::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = m_pressed && !m_dragged && event->button() == Qt::LeftButton;
    m_pressed.reset();
    m_dragged.reset();
    viewport()->unsetCursor();
    if (!click)
        return;
    m_cameFrom = -1;
    if (const std::int32_t toggle = toggleUnder(event->pos()); toggle >= 0) {
        Q_EMIT toggleRequested(toggle);
        return;
    }
    const std::int32_t box = boxUnder(event->pos());
    userChose(box >= 0 ? std::vector{box} : std::vector<std::int32_t>{});
}

void CanvasView::mouseDoubleClickEvent(QMouseEvent* event) {
    const std::int32_t box = event->button() == Qt::LeftButton ? boxUnder(event->pos()) : -1;
    if (box < 0 || toggleUnder(event->pos()) >= 0)
        return;
    if (drawn()->diagram.boxes[static_cast<std::size_t>(box)].expandable)
        Q_EMIT openRequested(box);
    else
        Q_EMIT revealRequested(box);
}

void CanvasView::contextMenuEvent(QContextMenuEvent* event) {
    const bool keyboard = event->reason() == QContextMenuEvent::Keyboard;
    const std::int32_t box = keyboard ? current() : boxUnder(event->pos());
    if (!keyboard && box >= 0 && std::find(m_chosen.begin(), m_chosen.end(), box) == m_chosen.end())
        userChose({box});
    const QPoint at = keyboard && box >= 0
                          ? mapFromScene(drawn()->boxes[static_cast<std::size_t>(box)].center())
                          : event->pos();
    Q_EMIT menuRequested(box, viewport()->mapToGlobal(at));
}

void CanvasView::hover(const QPoint& position) {
    if (!drawn())
        return;
    const std::int32_t box = boxUnder(position);
    const bool onLeaf = box >= 0 && !drawn()->diagram.boxes[static_cast<std::size_t>(box)].expanded;
    const std::int32_t edge = onLeaf ? -1 : edgeAt(*drawn(), mapToScene(position), kEdgeReach / zoom());
    viewport()->setCursor(toggleUnder(position) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (edge == m_item->options.hoveredEdge)
        return;
    for (const std::int32_t changed : {m_item->options.hoveredEdge, edge})
        if (changed >= 0)
            viewport()->update(viewportTransform()
                                   .mapRect(drawn()->edgeBounds[static_cast<std::size_t>(changed)])
                                   .toAlignedRect()
                                   .adjusted(-kEdgeReach, -kEdgeReach, kEdgeReach, kEdgeReach));
    m_item->options.hoveredEdge = edge;
}

QString CanvasView::tipAt(const QPoint& position) const {
    const std::int32_t index = boxUnder(position);
    const Diagram& diagram = drawn()->diagram;
    if (index >= 0 && !diagram.boxes[static_cast<std::size_t>(index)].expanded) {
        const workbench::Box& box = diagram.boxes[static_cast<std::size_t>(index)];
        QString tip = "<b>" + QString::fromStdString(box.title).toHtmlEscaped() + "</b>";
        for (const std::string& line : {box.subtitle, box.module})
            if (!line.empty())
                tip += "<br>" + QString::fromStdString(line).toHtmlEscaped();
        for (const std::string& detail : box.details)
            tip += "<br>" + QString::fromStdString(detail).toHtmlEscaped();
        return tip;
    }
    const std::int32_t edge = edgeAt(*drawn(), mapToScene(position), kEdgeReach / zoom());
    if (edge < 0)
        return {};
    const Edge& found = diagram.edges[static_cast<std::size_t>(edge)];
    const auto name = [&](std::int32_t box) {
        return QString::fromStdString(diagram.boxes[static_cast<std::size_t>(box)].title).toHtmlEscaped();
    };
    return tr("%1 → %2").arg(name(found.from), name(found.to)) + "<br>" +
           QString::fromStdString(found.label).toHtmlEscaped();
}

bool CanvasView::viewportEvent(QEvent* event) {
    switch (event->type()) {
    case QEvent::ToolTip: {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), drawn() ? tipAt(help->pos()) : QString(), viewport());
        return true;
    }
    case QEvent::Gesture:
        pinch(static_cast<QGestureEvent*>(event));
        return true;
    case QEvent::NativeGesture: {
        const auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture)
            zoomTo(zoom() * (1 + gesture->value()), gesture->position());
        return true;
    }
    default:
        return QGraphicsView::viewportEvent(event);
    }
}

void CanvasView::pinch(QGestureEvent* event) {
    if (const auto* gesture = static_cast<QPinchGesture*>(event->gesture(Qt::PinchGesture)))
        zoomTo(zoom() * gesture->scaleFactor(), viewport()->mapFromGlobal(gesture->centerPoint()));
}

} // namespace workbench::gui
