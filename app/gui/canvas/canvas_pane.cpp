#include "app/gui/canvas/canvas_pane.h"

#include "app/diagram/scope_modules.h"
#include "app/gui/canvas/minimap.h"

#include <QtCore/QTimer>
#include <QtWidgets/QFrame>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>

#include <algorithm>
#include <utility>

namespace workbench::gui {
namespace {

constexpr int kPatienceMs = 150; // a layout that is quicker needs no card
constexpr int kMargin = 10;

const std::string kAll = "*"; // see DiagramRequest::expanded

/// As DiagramRequest::expanded has it.
std::string nameOf(const Box& box) {
    return box.key.substr(box.key.find(':') + 1);
}

bool hasSubmodules(const Graph& graph, const std::string& path) {
    return std::any_of(graph.modules.begin(), graph.modules.end(), [&](const ModuleInfo& module) {
        return module.path != path && isWithin(module.path, path);
    });
}

/// Where a module's nodes are seen with their surroundings: a leaf module in the one above it.
std::string scopeFor(const Graph& graph, const std::string& module) {
    const std::vector<std::string> way = breadcrumbs(graph, module);
    if (hasSubmodules(graph, module) || way.size() < 2)
        return module;
    return way[way.size() - 2];
}

/// Whether the nodes show one by one when they are opened: within the scope, and not in one of several alike.
bool canShow(const Graph& graph, const Scene* scene, NodeId node) {
    if (!scene || !isWithin(graph.modulePath(node), scene->diagram.scope))
        return false;
    const std::int32_t box = boxOf(scene->diagram, node);
    return box >= 0 && scene->diagram.boxes[static_cast<std::size_t>(box)].count == 1;
}

QFrame* card(QWidget* parent, const char* name) {
    auto* frame = new QFrame(parent);
    frame->setObjectName(name);
    frame->setFrameShape(QFrame::StyledPanel);
    frame->setAutoFillBackground(true);
    frame->hide();
    return frame;
}

} // namespace

CanvasPane::CanvasPane(const Locations& locations, QWidget* parent)
    : QWidget(parent), m_loader(new DiagramLoader(locations, this)), m_view(new CanvasView(this)),
      m_minimap(new Minimap(this)), m_busyCard(card(this, "busyCard")), m_hintCard(card(this, "hintCard")),
      m_hint(new QLabel(m_hintCard)), m_retry(new QPushButton(tr("Try again"), m_hintCard)),
      m_patience(new QTimer(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    setFocusProxy(m_view);

    auto* busy = new QHBoxLayout(m_busyCard);
    auto* bar = new QProgressBar(m_busyCard);
    bar->setRange(0, 0);
    bar->setFixedWidth(90);
    bar->setTextVisible(false);
    auto* cancel = new QPushButton(tr("Cancel"), m_busyCard);
    cancel->setObjectName("cancelLayout");
    cancel->setAccessibleName(tr("Cancel the layout"));
    busy->addWidget(new QLabel(tr("Laying out…"), m_busyCard));
    busy->addWidget(bar);
    busy->addWidget(cancel);

    auto* hint = new QVBoxLayout(m_hintCard);
    m_hint->setObjectName("canvasHint");
    m_hint->setAlignment(Qt::AlignCenter);
    m_hint->setWordWrap(true);
    m_hint->setMinimumWidth(320);
    m_retry->setObjectName("retryLayout");
    hint->addWidget(m_hint);
    hint->addWidget(m_retry, 0, Qt::AlignCenter);

    m_patience->setSingleShot(true);
    m_patience->setInterval(kPatienceMs);
    connect(m_patience, &QTimer::timeout, this, [this] {
        m_busyCard->show();
        m_busyCard->raise();
        placeCards();
    });
    connect(cancel, &QPushButton::clicked, m_loader, &DiagramLoader::cancel);
    connect(m_retry, &QPushButton::clicked, this, [this] { load(m_last); });
    connect(m_loader, &DiagramLoader::loaded, this, &CanvasPane::take);
    connect(m_loader, &DiagramLoader::failed, this, &CanvasPane::fail);
    connect(m_loader, &DiagramLoader::busyChanged, this, &CanvasPane::showBusy);
    connect(m_view, &CanvasView::viewChanged, this,
            [this] { m_minimap->setVisiblePart(m_view->visiblePart()); });
    // Several changes of one turn are drawn once.
    connect(m_view, &CanvasView::highlightsChanged, this, [this] {
        if (!std::exchange(m_minimapIsDue, true))
            QMetaObject::invokeMethod(this, &CanvasPane::drawMinimap, Qt::QueuedConnection);
    });
    connect(m_view, &CanvasView::toggleRequested, this, &CanvasPane::toggle);
    connect(m_view, &CanvasView::openRequested, this, &CanvasPane::openBox);
    connect(m_view, &CanvasView::outRequested, this, &CanvasPane::goOut);
    connect(m_minimap, &Minimap::centreRequested, m_view, &CanvasView::centreOn);
    connect(m_minimap, &Minimap::resized, this, &CanvasPane::placeCards);
}

void CanvasPane::setSource(const DiagramSource& source, const QString& hint) {
    m_source = source;
    if (!source.graph) {
        m_loader->cancel();
        m_picture = {};
        m_view->showScene(nullptr);
        m_minimap->setDrawing(nullptr, {});
        say(hint, false);
        return;
    }
    m_hintCard->hide();
}

void CanvasPane::load(DiagramLoader::MakeRequest make) {
    m_hintCard->hide();
    m_pending.reset();
    m_last = std::move(make);
    if (m_source.graph)
        m_loader->load(m_source, m_last);
}

void CanvasPane::openScope(const std::string& scope) {
    if (const auto left = m_left.find(scope); left != m_left.end())
        return showRequest(left->second);
    m_anchor.clear();
    load([scope](const Graph& graph, const ModuleTree& tree) { return initialRequest(graph, tree, scope); });
}

void CanvasPane::showRequest(const DiagramRequest& request, const std::string& anchor) {
    m_anchor = anchor;
    m_left[request.scope] = request;
    load([request](const Graph&, const ModuleTree&) { return request; });
    m_pending = request;
}

void CanvasPane::toggle(std::int32_t index) {
    const Box& box = scene()->diagram.boxes[static_cast<std::size_t>(index)];
    if (box.expandable)
        setExpanded(nameOf(box), !box.expanded);
}

void CanvasPane::setExpanded(const std::string& name, bool expanded) {
    DiagramRequest request = m_pending.value_or(m_picture.request);
    if (!expanded && request.expanded.erase(kAll) > 0 && scene()) // all but this one
        for (const Box& box : scene()->diagram.boxes)
            if (box.expanded)
                request.expanded.insert(nameOf(box));
    if (expanded)
        request.expanded.insert(name);
    else
        request.expanded.erase(name);
    showRequest(request, "m:" + name);
}

void CanvasPane::setAllExpanded(bool expanded) {
    if (!scene())
        return;
    DiagramRequest request = m_picture.request;
    request.expanded.clear();
    if (expanded)
        request.expanded.insert(kAll);
    showRequest(request);
}

void CanvasPane::openBox(std::int32_t index) {
    const Box& box = scene()->diagram.boxes[static_cast<std::size_t>(index)];
    if (box.expandable)
        openScope(box.module);
}

void CanvasPane::goOut() {
    if (!scene() || m_picture.request.scope.empty())
        return;
    const std::string inner = m_picture.request.scope;
    const std::vector<std::string> way = breadcrumbs(*m_source.graph, inner);
    m_moduleToReveal = inner;
    openScope(way.size() < 2 ? std::string() : way[way.size() - 2]);
}

void CanvasPane::reveal(const std::vector<NodeId>& nodes) {
    if (nodes.empty() || !m_source.graph)
        return;
    const Graph& graph = *m_source.graph;
    const NodeId first = nodes.front();
    if (!canShow(graph, scene(), first))
        return revealFrom(
            [scope = scopeFor(graph, std::string(graph.modulePath(first)))](
                const Graph& all, const ModuleTree& tree) { return initialRequest(all, tree, scope); },
            nodes);
    const std::int32_t box = boxOf(scene()->diagram, first);
    if (!busy() && scene()->diagram.boxes[static_cast<std::size_t>(box)].kind == Box::Kind::node) {
        m_toReveal = nodes;
        return chooseRevealed();
    }
    const auto left = m_left.find(m_picture.request.scope);
    const DiagramRequest from = left != m_left.end() ? left->second : m_picture.request;
    revealFrom([from](const Graph&, const ModuleTree&) { return from; }, nodes);
}

void CanvasPane::revealIn(const std::string& scope, const std::set<std::string>& expanded,
                          const std::vector<NodeId>& nodes) {
    DiagramRequest request;
    request.scope = scope;
    request.expanded = expanded;
    revealFrom([request](const Graph&, const ModuleTree&) { return request; }, nodes);
}

void CanvasPane::revealFrom(DiagramLoader::MakeRequest base, const std::vector<NodeId>& nodes) {
    m_anchor.clear();
    m_moduleToReveal.clear();
    m_toReveal = nodes;
    load([base = std::move(base), nodes](const Graph& graph, const ModuleTree& tree) {
        DiagramRequest request = base(graph, tree);
        for (const NodeId node : nodes)
            if (isWithin(graph.modulePath(node), request.scope))
                request = revealNode(graph, tree, std::move(request), node);
        return request;
    });
}

void CanvasPane::revealModule(const std::string& path) {
    if (!m_source.graph)
        return;
    m_toReveal.clear();
    openScope(scopeFor(*m_source.graph, path));
    m_moduleToReveal = path;
}

void CanvasPane::take(const Picture& picture) {
    const bool other = !scene() || picture.request.scope != m_picture.request.scope;
    if (scene() && !other && m_anchor.empty() && m_view->current() >= 0)
        m_anchor = scene()->diagram.boxes[static_cast<std::size_t>(m_view->current())].key;
    m_picture = picture;
    m_pending.reset();
    if (picture.source.graph == m_source.graph)
        m_source = picture.source;
    m_view->showScene(picture.scene, other ? std::string() : m_anchor);
    m_view->setAccessibleName(picture.request.scope.empty()
                                  ? tr("Graph of the model")
                                  : tr("Graph of %1").arg(QString::fromStdString(picture.request.scope)));
    m_anchor.clear();
    recolour();
    if (other)
        Q_EMIT scopeChanged();
    Q_EMIT shown();
    const bool reveals = !m_toReveal.empty() || !m_moduleToReveal.empty();
    chooseRevealed();
    if (reveals) // nobody was looking at a place of this drawing yet
        m_view->centreNarrow();
    if (picture.scene->boxes.empty())
        say(tr("Nothing of this part is left to draw."), false);
}

void CanvasPane::chooseRevealed() {
    if (!scene())
        return;
    std::vector<std::int32_t> boxes;
    for (const NodeId node : m_toReveal)
        if (const std::int32_t box = boxOf(scene()->diagram, node); box >= 0)
            boxes.push_back(box);
    if (!m_moduleToReveal.empty())
        for (std::size_t i = 0; i < scene()->boxes.size(); ++i) {
            const Box& box = scene()->diagram.boxes[i];
            const bool among =
                std::find(box.modules.begin(), box.modules.end(), m_moduleToReveal) != box.modules.end();
            if (box.kind == Box::Kind::module && (box.module == m_moduleToReveal || among))
                boxes.push_back(static_cast<std::int32_t>(i));
        }
    m_toReveal.clear();
    m_moduleToReveal.clear();
    if (boxes.empty())
        return;
    std::sort(boxes.begin(), boxes.end());
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
    m_view->choose(boxes);
    m_view->ensureShown(boxes, CanvasView::kReadable);
    Q_EMIT revealed();
}

void CanvasPane::fail(const Error& error) {
    m_pending.reset();
    m_toReveal.clear();
    m_moduleToReveal.clear();
    if (scene())
        takeAsLeft();
    if (error.code == ErrorCode::cancelled)
        say(tr("The layout was cancelled."), true);
    else
        say(tr("This part could not be laid out: %1").arg(QString::fromStdString(error.message)), true);
}

void CanvasPane::say(const QString& text, bool retry) {
    m_hint->setText(text);
    m_retry->setVisible(retry);
    m_hintCard->setVisible(!text.isEmpty());
    m_hintCard->raise();
    placeCards();
}

void CanvasPane::showBusy(bool busy) {
    if (busy) {
        m_patience->start();
        return;
    }
    m_patience->stop();
    m_busyCard->hide();
}

void CanvasPane::placeCards() {
    for (QFrame* each : {m_busyCard, m_hintCard}) {
        each->adjustSize();
        each->move((width() - each->width()) / 2, (height() - each->height()) / 2);
    }
    m_minimap->move(width() - m_minimap->width() - kMargin, height() - m_minimap->height() - kMargin);
}

void CanvasPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    drawMinimap();
    placeCards();
}

// Colours.

void CanvasPane::themeChanged(const Theme& theme) {
    m_view->setTheme(theme);
    drawMinimap();
}

void CanvasPane::setMarks(std::shared_ptr<const std::vector<NodeMark>> marks) {
    m_marks = std::move(marks);
    recolour();
}

void CanvasPane::setOverlay(std::shared_ptr<const Overlay> overlay) {
    m_overlay = std::move(overlay);
    recolour();
}

void CanvasPane::setHiddenSlots(const std::set<std::int32_t>& slots) {
    m_view->setHiddenSlots(slots);
    drawMinimap();
}

void CanvasPane::recolour() {
    m_colours = scene() ? std::make_shared<const SceneColours>(
                              coloursOf(scene()->diagram, m_marks.get(), m_overlay.get()))
                        : nullptr;
    m_view->setColours(m_colours);
    drawMinimap();
}

void CanvasPane::drawMinimap() {
    m_minimapIsDue = false;
    m_minimap->setDrawing(scene(), m_view->paintOptions());
    m_minimap->setVisiblePart(m_view->visiblePart());
}

} // namespace workbench::gui
