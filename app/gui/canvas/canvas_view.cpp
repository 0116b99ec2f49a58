#include "app/gui/canvas/canvas_view.h"

#include <QtCore/QTimer>
#include <QtGui/QAccessible>
#include <QtGui/QPaintEvent>
#include <QtGui/QResizeEvent>
#include <QtWidgets/QGraphicsScene>
#include <QtWidgets/QScrollBar>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr double kLeastZoom = 0.02, kMostZoom = 4;
constexpr double kStep = 1.25; // of the zoom actions
constexpr int kFrame = 24;     // kept free around a fitted drawing
constexpr int kRestMs = 70; // without a step of the zoom: longer than from one click of a wheel to the next

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
    : QGraphicsView(parent), m_graphics(new QGraphicsScene(this)), m_item(new DiagramItem),
      m_rest(new QTimer(this)) {
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
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent); // tiles cover it
    viewport()->grabGesture(Qt::PinchGesture);
    setFocusPolicy(Qt::StrongFocus);
    m_item->options.theme = &Theme::light();
    m_rest->setSingleShot(true);
    connect(m_rest, &QTimer::timeout, this, [this] { viewport()->update(m_tiles.blurred()); });
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
        jump(rectOf(*drawn(), to).topLeft(), *kept, zoom());
    else
        showFromTop();
    updateHighlights();
    repaintAll();
}

void CanvasView::setTheme(const Theme& theme) {
    m_item->options.theme = &theme;
    repaintAll();
}

void CanvasView::setColours(std::shared_ptr<const SceneColours> colours) {
    m_colours = std::move(colours);
    m_item->options.colours = m_colours.get();
    repaintAll();
}

void CanvasView::setHiddenSlots(std::set<std::int32_t> slots) {
    m_item->options.hiddenSlots = std::move(slots);
    repaintAll();
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
    const workbench::Box* box =
        current() >= 0 ? &drawn()->diagram.boxes[static_cast<std::size_t>(current())] : nullptr;
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
    // Beside fates these colours would read as added and removed.
    if (m_chosen.size() == 1 && m_fates.empty()) {
        mark(m_neighbours->producers(current()), Highlight::producer);
        mark(m_neighbours->consumers(current()), Highlight::consumer);
    }
    mark(m_chosen, Highlight::selected);
    m_haste = CanvasTiles::Haste::brief;
    m_tiles.outdate();
    viewport()->update();
    Q_EMIT highlightsChanged();
}

// Place and size.

void CanvasView::growRoom() {
    // Any box can be moved to any point of the viewport.
    const QSizeF size = QSizeF(viewport()->size()) / zoom();
    m_graphics->setSceneRect(
        m_item->boundingRect().adjusted(-size.width(), -size.height(), size.width(), size.height()));
}

void CanvasView::place(const QPointF& scenePoint, const QPointF& viewportPoint, double zoom) {
    m_haste = CanvasTiles::Haste::brief;
    jump(scenePoint, viewportPoint, zoom);
}

void CanvasView::moveBy(const QPoint& away) {
    m_haste = CanvasTiles::Haste::brief;
    m_placing = true;
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + away.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + away.y());
    m_placing = false;
    Q_EMIT viewChanged();
}

void CanvasView::jump(const QPointF& scenePoint, const QPointF& viewportPoint, double zoom) {
    zoom = std::clamp(zoom, kLeastZoom, kMostZoom);
    m_placing = true;
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

void CanvasView::centreNarrow() {
    if (!drawn() || drawn()->bounds.width() * zoom() > viewport()->width())
        return;
    const QPointF middle = QRectF(viewport()->rect()).center();
    const QPointF shown = viewportTransform().inverted().map(middle);
    jump({drawn()->bounds.center().x(), shown.y()}, middle, zoom());
}

void CanvasView::fit() {
    if (!drawn() || drawn()->bounds.isEmpty())
        return;
    const QRectF bounds = drawn()->bounds;
    const QSizeF room = viewport()->size() - QSize(2 * kFrame, 2 * kFrame);
    const double zoom = std::min({room.width() / bounds.width(), room.height() / bounds.height(), 1.0});
    jump(bounds.center(), QRectF(viewport()->rect()).center(), zoom);
}

void CanvasView::showFromTop() {
    fit();
    if (!drawn() || zoom() >= kReadable)
        return;
    const QRectF bounds = drawn()->bounds;
    const double tall = kReadable * bounds.height() + 2 * kFrame;
    const QPointF middle = QRectF(viewport()->rect()).center();
    if (tall > viewport()->height())
        jump({bounds.center().x(), bounds.top()}, {middle.x(), kFrame}, kReadable);
    else
        jump(bounds.center(), middle, kReadable);
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
    const double fits = std::min(inner.width() / wanted.width(), inner.height() / wanted.height());
    if (zoom <= fits)
        return jump(wanted.center(), inner.center(), zoom);
    // What cannot be read all at once is shown from its top.
    zoom = std::max(fits, std::min(zoom, kReadable));
    const QPointF from(wanted.width() * zoom > inner.width() ? wanted.left() : wanted.center().x(),
                       wanted.height() * zoom > inner.height() ? wanted.top() : wanted.center().y());
    jump(from,
         {wanted.width() * zoom > inner.width() ? inner.left() : inner.center().x(),
          wanted.height() * zoom > inner.height() ? inner.top() : inner.center().y()},
         zoom);
}

void CanvasView::resizeEvent(QResizeEvent* event) {
    // The drawing stays in the middle, and its top where it is.
    const QPointF top = viewportTransform().inverted().map(QPointF(event->oldSize().width() / 2.0, 0));
    QGraphicsView::resizeEvent(event);
    growRoom();
    if (event->oldSize().isEmpty())
        showFromTop();
    else
        jump(top, QPointF(event->size().width() / 2.0, 0), zoom());
}

void CanvasView::scrollContentsBy(int dx, int dy) {
    QGraphicsView::scrollContentsBy(dx, dy);
    if (!m_placing)
        Q_EMIT viewChanged();
}

void CanvasView::repaintAll() {
    m_haste = CanvasTiles::Haste::complete;
    m_tiles.clear();
    viewport()->update();
}

void CanvasView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    const QTransform toViewport = viewportTransform();
    const QPoint origin(-qRound(toViewport.dx()), -qRound(toViewport.dy()));
    const bool isSharp = m_tiles.paint(
        painter, event->region(), {zoom(), QRect(origin, viewport()->size()), devicePixelRatioF()}, m_haste,
        m_item->options.theme->background,
        [this](QPainter& onTile, const QRectF& part) { m_item->paintPart(onTile, part); });
    painter.setWorldTransform(toViewport);
    m_item->paintHovered(painter);
    if (isSharp)
        m_haste = CanvasTiles::Haste::complete;
    else
        m_rest->start(m_tiles.waits() ? kRestMs : 0);
}

} // namespace workbench::gui
