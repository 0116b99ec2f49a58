#include "app/gui/canvas/canvas_view.h"

#include <QtGui/QKeyEvent>

#include <algorithm>
#include <cmath>
#include <limits>

/// Walking over the drawing by keyboard: along edges up and down, to what stands beside left and right.

namespace workbench::gui {
namespace {

QPointF centre(const Scene& scene, std::int32_t box) {
    return scene.boxes[static_cast<std::size_t>(box)].center();
}

std::int32_t topmost(const Scene& scene) {
    std::int32_t best = -1;
    for (std::size_t i = 0; i < scene.boxes.size(); ++i)
        if (!scene.diagram.boxes[i].expanded &&
            (best < 0 || scene.boxes[i].top() < scene.boxes[static_cast<std::size_t>(best)].top()))
            best = static_cast<std::int32_t>(i);
    return best;
}

} // namespace

/// The one that we came from, else the one that stands nearest; weights and other boxes at the side come
/// last.
std::int32_t CanvasView::bestOf(const std::vector<std::int32_t>& boxes) const {
    if (std::find(boxes.begin(), boxes.end(), m_cameFrom) != boxes.end())
        return m_cameFrom;
    std::int32_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (const std::int32_t box : boxes) {
        const QPointF away = centre(*drawn(), box) - centre(*drawn(), current());
        const double beside = boxAt(*drawn(), box).beside >= 0 ? 1e9 : 0;
        if (const double far = std::hypot(2 * away.x(), away.y()) + beside; far < least) {
            least = far;
            best = box;
        }
    }
    return best;
}

std::int32_t CanvasView::nearestSideways(bool right) const {
    std::int32_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    const QPointF from = centre(*drawn(), current());
    for (std::size_t i = 0; i < drawn()->boxes.size(); ++i) {
        const auto box = static_cast<std::int32_t>(i);
        const QPointF away = centre(*drawn(), box) - from;
        if (box == current() || drawn()->diagram.boxes[i].expanded ||
            (right ? away.x() <= 1 : away.x() >= -1))
            continue;
        // What overlaps in height is beside; the further off, the less.
        if (const double far = std::abs(away.x()) + 4 * std::abs(away.y()); far < least) {
            least = far;
            best = box;
        }
    }
    return best;
}

void CanvasView::walk(Direction direction) {
    if (!drawn() || drawn()->boxes.empty())
        return;
    std::int32_t next = -1;
    if (current() < 0)
        next = topmost(*drawn());
    else if (direction == Direction::up)
        next = bestOf(m_neighbours->producers(current()));
    else if (direction == Direction::down)
        next = bestOf(m_neighbours->consumers(current()));
    else
        next = nearestSideways(direction == Direction::right);
    if (next < 0)
        return;
    const bool alongEdge = direction == Direction::up || direction == Direction::down;
    const std::int32_t from = current();
    userChose({next});
    m_cameFrom = alongEdge ? from : -1;
    ensureShown({next});
}

void CanvasView::chooseNeighbours(bool producers) {
    if (!drawn() || m_chosen.empty())
        return;
    std::vector<std::int32_t> found;
    for (const std::int32_t box : m_chosen) {
        const std::vector<std::int32_t> some =
            producers ? m_neighbours->producers(box) : m_neighbours->consumers(box);
        found.insert(found.end(), some.begin(), some.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.empty())
        return;
    userChose(found);
    ensureShown(found);
}

void CanvasView::keyPressEvent(QKeyEvent* event) {
    const bool control = event->modifiers() & Qt::ControlModifier;
    const workbench::Box* box = current() >= 0 ? &boxAt(*drawn(), current()) : nullptr;
    switch (event->key()) {
    case Qt::Key_Up:
        return walk(Direction::up);
    case Qt::Key_Down:
        return walk(Direction::down);
    case Qt::Key_Left:
        return walk(Direction::left);
    case Qt::Key_Right:
        return walk(Direction::right);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (box && box->expandable && control)
            Q_EMIT openRequested(current());
        else if (box && box->expandable)
            Q_EMIT toggleRequested(current());
        else if (box)
            Q_EMIT revealRequested(current());
        return;
    case Qt::Key_Space:
        if (box && box->expandable)
            Q_EMIT toggleRequested(current());
        return;
    case Qt::Key_Backspace:
        Q_EMIT outRequested();
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomIn();
    case Qt::Key_Minus:
        return zoomOut();
    case Qt::Key_Escape:
        return userChose({});
    default:
        // Not QGraphicsView's: its arrow and page keys would scroll.
        QWidget::keyPressEvent(event);
    }
}

} // namespace workbench::gui
