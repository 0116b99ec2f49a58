#include "app/gui/canvas/canvas_view.h"

#include <QtGui/QAccessible>
#include <QtGui/QNativeGestureEvent>
#include <QtWidgets/QApplication>
#include <QtWidgets/QGestureEvent>
#include <QtWidgets/QGraphicsScene>
#include <QtWidgets/QPinchGesture>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolTip>

#include <algorithm>
#include <cmath>

namespace workbench::gui {
namespace {

constexpr double kLeastZoom = 0.02, kMostZoom = 4;
constexpr double kStep = 1.25;      // of the zoom actions
constexpr double kWheelBase = 1.0015; // to the power of an eighth of a degree: 1.2 for a click of the wheel
constexpr double kEdgeReach = 5;    // device pixels
constexpr int kFrame = 24;          // kept free around a fitted drawing

QRectF rectOf(const Scene& scene, std::int32_t box) {
    return scene.boxes[static_cast<std::size_t>(box)];
}

std::int32_t boxOfKey(const Diagram& diagram, const std::string& key) {
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
        if (diagram.boxes[i].key == key)
            return static_cast<std::int32_t>(i);
    return -1;
}

} // namespace

CanvasView::CanvasView(QWidget* parent)
    : QGraphicsView(parent), m_graphics(new QGraphicsScene(this)), m_item(new DiagramItem) {
    setObjectName("canvasView");
    setAccessibleName(tr("Graph"));
    m_graphics->setItemIndexMethod(QGraphicsScene::NoIndex);
    m_graphics->addItem(m_item);
    QGraphicsView::setScene(m_graphics);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTransformationAnchor(NoAnchor);
    setResizeAnchor(AnchorViewCenter);
    setViewportUpdateMode(SmartViewportUpdate);
    setOptimizationFlags(DontSavePainterState);
    setMouseTracking(true);
    viewport()->setMouseTracking(true);
    viewport()->grabGesture(Qt::PinchGesture);
    setFocusPolicy(Qt::StrongFocus);
    m_item->options.theme = &Theme::light();
}

void CanvasView::showScene(std::shared_ptr<const Scene> scene, const std::string& anchor) {
    const Scene* old = drawn();
    const std::int32_t from = old ? boxOfKey(old->diagram, anchor) : -1;
    const std::int32_t to = scene ? boxOfKey(scene->diagram, anchor) : -1;
    std::optional<QPointF> kept;
    if (from >= 0 && to >= 0)
        kept = viewportTransform().map(rectOf(*old, from).topLeft());
    m_item->setScene(std::move(scene));
    setColours(nullptr);
    m_neighbours.reset();
    m_fates.clear();
    m_chosen.clear();
    m_hits.clear();
    m_cameFrom = -1;
    if (drawn())
        m_neighbours.emplace(drawn()->diagram);
    growRoom();
    if (kept)
        place(rectOf(*drawn(), to).topLeft(), *kept, zoom());
    else
        showFromTop();
    updateHighlights();
}

void CanvasView::setTheme(const Theme& theme) {
    m_item->options.theme = &theme;
    viewport()->update();
}

void CanvasView::setColours(std::shared_ptr<const SceneColours> colours) {
    m_colours = std::move(colours);
    m_item->options.colours = m_colours.get();
    viewport()->update();
}

void CanvasView::setHiddenSlots(std::set<std::int32_t> slots) {
    m_item->options.hiddenSlots = std::move(slots);
    viewport()->update();
}

void CanvasView::setFates(std::vector<Highlight> fates) {
    m_fates = std::move(fates);
    updateHighlights();
}

void CanvasView::setSearchHits(std::vector<std::int32_t> boxes) {
    m_hits = std::move(boxes);
    updateHighlights();
}

void CanvasView::choose(std::vector<std::int32_t> boxes) {
    m_chosen = std::move(boxes);
    updateHighlights();
    const workbench::Box* box = current() >= 0 ? &drawn()->diagram.boxes[static_cast<std::size_t>(current())] : nullptr;
    setAccessibleDescription(box ? QString::fromStdString(box->title + ", " + box->subtitle) : QString());
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

void CanvasView::userChose(std::vector<std::int32_t> boxes) {
    if (boxes == m_chosen)
        return;
    choose(std::move(boxes));
    Q_EMIT chosenChanged();
}

void CanvasView::updateHighlights() {
    std::vector<Highlight>& all = m_item->options.highlights;
    m_item->signs = m_fates;
    all = m_fates;
    if (!drawn())
        return;
    all.resize(drawn()->boxes.size(), Highlight::none);
    const auto mark = [&](const std::vector<std::int32_t>& boxes, Highlight highlight) {
        for (const std::int32_t box : boxes)
            all[static_cast<std::size_t>(box)] = highlight;
    };
    mark(m_hits, Highlight::searchHit);
    if (m_chosen.size() == 1) {
        mark(m_neighbours->producers(current()), Highlight::producer);
        mark(m_neighbours->consumers(current()), Highlight::consumer);
    }
    mark(m_chosen, Highlight::selected);
    viewport()->update();
}

// Place and size.

void CanvasView::growRoom() {
    // Any box can be moved to any point of the viewport.
    const QSizeF size = QSizeF(viewport()->size()) / zoom();
    m_graphics->setSceneRect(m_item->boundingRect().adjusted(-size.width(), -size.height(), size.width(), size.height()));
}

void CanvasView::place(const QPointF& scenePoint, const QPointF& viewportPoint, double zoom) {
    m_placing = true;
    zoom = std::clamp(zoom, kLeastZoom, kMostZoom);
    if (!qFuzzyCompare(zoom, transform().m11())) {
        setTransform(QTransform::fromScale(zoom, zoom));
        growRoom();
    }
    const QPointF away = viewportTransform().map(scenePoint) - viewportPoint;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + qRound(away.x()));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + qRound(away.y()));
    m_placing = false;
    Q_EMIT viewChanged();
}

void CanvasView::zoomTo(double zoom, const QPointF& anchor) {
    place(viewportTransform().inverted().map(anchor), anchor, zoom);
}

void CanvasView::zoomIn() {
    zoomTo(zoom() * kStep, viewport()->rect().center());
}

void CanvasView::zoomOut() {
    zoomTo(zoom() / kStep, viewport()->rect().center());
}

void CanvasView::actualSize() {
    zoomTo(1, viewport()->rect().center());
}

void CanvasView::centreOn(const QPointF& scenePoint) {
    place(scenePoint, QRectF(viewport()->rect()).center(), zoom());
}

void CanvasView::fit() {
    if (!drawn() || drawn()->bounds.isEmpty())
        return;
    const QRectF bounds = drawn()->bounds;
    const QSizeF room = viewport()->size() - QSize(2 * kFrame, 2 * kFrame);
    const double zoom = std::min({room.width() / bounds.width(), room.height() / bounds.height(), 1.0});
    place(bounds.center(), QRectF(viewport()->rect()).center(), zoom);
}

void CanvasView::showFromTop() {
    fit();
    if (!drawn() || zoom() >= kReadable)
        return;
    const QRectF bounds = drawn()->bounds;
    const double tall = kReadable * bounds.height() + 2 * kFrame;
    const QPointF middle = QRectF(viewport()->rect()).center();
    if (tall > viewport()->height())
        place({bounds.center().x(), bounds.top()}, {middle.x(), kFrame}, kReadable);
    else
        place(bounds.center(), middle, kReadable);
}

QRectF CanvasView::visiblePart() const {
    return viewportTransform().inverted().mapRect(QRectF(viewport()->rect()));
}

void CanvasView::ensureShown(const std::vector<std::int32_t>& boxes, double leastZoom) {
    QRectF wanted;
    for (const std::int32_t box : boxes)
        wanted |= rectOf(*drawn(), box);
    if (wanted.isEmpty())
        return;
    const QRectF inner = viewport()->rect().adjusted(kFrame, kFrame, -kFrame, -kFrame);
    if (zoom() >= leastZoom && inner.contains(viewportTransform().mapRect(wanted)))
        return;
    double zoom = std::max(this->zoom(), leastZoom);
    if (wanted.width() * zoom > inner.width() || wanted.height() * zoom > inner.height())
        zoom = std::min(inner.width() / wanted.width(), inner.height() / wanted.height());
    place(wanted.center(), inner.center(), zoom);
}

void CanvasView::resizeEvent(QResizeEvent* event) {
    const QPointF top = viewportTransform().inverted().map(QPointF(0, 0));
    QGraphicsView::resizeEvent(event);
    growRoom();
    if (event->oldSize().isEmpty())
        showFromTop();
    else
        place(top, QPointF(0, 0), zoom());
}

void CanvasView::scrollContentsBy(int dx, int dy) {
    QGraphicsView::scrollContentsBy(dx, dy);
    if (!m_placing)
        Q_EMIT viewChanged();
}

void CanvasView::drawBackground(QPainter* painter, const QRectF& rect) {
    painter->fillRect(rect, m_item->options.theme->background);
}

// Mouse, wheel, fingers.

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
        const QPoint moved = event->pixelDelta();
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
    } else if (event->modifiers() & (Qt::ShiftModifier | Qt::AltModifier)) {
        const int turned = angle.y() != 0 ? angle.y() : angle.x();
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - turned);
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
    m_placing = true;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
    m_placing = false;
    Q_EMIT viewChanged();
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
    const QPoint at = keyboard && box >= 0 ? mapFromScene(rectOf(*drawn(), box).center()) : event->pos();
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
    m_item->options.hoveredEdge = edge;
    viewport()->update();
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
