#include "app/gui/canvas/canvas_panel.h"

#include "app/diagram/siblings.h"
#include "app/gui/canvas/breadcrumbs.h"
#include "app/gui/canvas/hit_list.h"
#include "app/gui/canvas/legend_bar.h"
#include "app/gui/canvas/overlays.h"
#include "app/gui/canvas/search_bar.h"
#include "app/gui/canvas/widget_theme.h"
#include "app/gui/document/qt_text.h"
#include "fusion/match/pattern.h"

#include <QtGui/QAction>
#include <QtGui/QClipboard>
#include <QtGui/QGuiApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMenu>
#include <QtWidgets/QToolButton>

#include <algorithm>

namespace workbench::gui {

CanvasPanel::CanvasPanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent) {
    build();
    makeActions();
    connect(m_pane, &CanvasPane::shown, this, &CanvasPanel::scopeShown);
    connect(&m_pane->view(), &CanvasView::viewChanged, this,
            [this] { m_zoom->setText(tr("%1 %").arg(qRound(100 * m_pane->view().zoom()))); });
    connect(&m_pane->view(), &CanvasView::chosenChanged, this, &CanvasPanel::tellSelection);
    connect(&m_pane->view(), &CanvasView::revealRequested, this, [this] { this->selection().reveal(); });
    connect(&m_pane->view(), &CanvasView::menuRequested, this, &CanvasPanel::showMenu);
    connect(&selection, &Selection::changed, this, &CanvasPanel::takeSelection);
    connect(&selection, &Selection::revealRequested, this, &CanvasPanel::reveal);
    connect(m_way, &Breadcrumbs::scopeRequested, this,
            [this](const QString& path) { m_pane->openScope(path.toStdString()); });
    connect(m_legend, &LegendBar::hiddenChanged, this,
            [this] { m_pane->setHiddenSlots(m_legend->hiddenSlots()); });
    connect(m_overlayChoice, &QComboBox::currentIndexChanged, this, &CanvasPanel::updateOverlay);
    connect(&document, &Document::rewrittenChanged, this, &CanvasPanel::updateMarks);
    connect(&document, &Document::decisionsChanged, this, &CanvasPanel::updateOverlay);
    connect(&document, &Document::proofsChanged, this, &CanvasPanel::updateOverlay);
    connect(&document, &Document::measuredChanged, this, &CanvasPanel::updateOverlay);
    m_pane->setSource({document.session().sharedModel()
                           ? std::shared_ptr<const Graph>(document.session().sharedModel(), &document.graph())
                           : nullptr,
                       std::make_shared<const ModuleTree>(document.tree())});
    themeChanged();
    updateMarks();
}

void CanvasPanel::build() {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_search = new SearchBar(this);
    m_hits = new HitsModel(this);
    m_hitList = new HitList(*m_hits, this);
    m_pane = new CanvasPane(document().locations(), this);
    m_legend = new LegendBar(this);
    layout->addWidget(buildBar());
    layout->addWidget(m_search);
    layout->addWidget(m_hitList);
    layout->addWidget(m_pane, 1);
    layout->addWidget(m_legend);
    connect(m_search, &SearchBar::searchRequested, this, &CanvasPanel::search);
    connect(m_search, &SearchBar::nextRequested, this, [this] { stepHit(1); });
    connect(m_search, &SearchBar::previousRequested, this, [this] { stepHit(-1); });
    connect(m_search, &SearchBar::closed, this, [this] {
        m_hitList->hide();
        m_pane->view().setSearchHits({});
        m_pane->setFocus();
    });
    connect(m_hitList, &HitList::hitChosen, this, &CanvasPanel::chooseHit);
    connect(m_hitList, &HitList::left, m_search, &SearchBar::close);
    setFocusProxy(m_pane);
}

QWidget* CanvasPanel::buildBar() {
    auto* bar = new QWidget(this);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(4);
    m_way = new Breadcrumbs(bar);
    m_total = new QLabel(bar);
    m_total->setObjectName("overlayTotal");
    m_total->setToolTip(tr("Of the graph that is shown"));
    m_overlayChoice = new QComboBox(bar);
    m_overlayChoice->setObjectName("overlayChoice");
    m_overlayChoice->setAccessibleName(tr("Numbers over the graph"));
    m_overlayChoice->setToolTip(tr("Numbers laid over the graph, with totals for each module"));
    m_overlayChoice->addItem(tr("No overlay"), QString());
    for (const OverlayChoice& choice : overlayChoices())
        m_overlayChoice->addItem(QCoreApplication::translate("overlays", choice.title), QString(choice.id));
    m_zoom = new QLabel(bar);
    m_zoom->setObjectName("zoomLevel");
    m_zoom->setAccessibleName(tr("Zoom"));
    m_zoom->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_zoom->setMinimumWidth(m_zoom->fontMetrics().horizontalAdvance("400 %"));
    row->addWidget(m_way, 1);
    row->addWidget(m_total);
    row->addWidget(m_overlayChoice);
    row->addWidget(m_zoom);
    for (const auto& [name, text] :
         {std::pair{"zoomOut", tr("−")}, {"zoomIn", tr("+")}, {"fit", tr("Fit")}, {"find", tr("Find")}}) {
        auto* button = new QToolButton(bar);
        button->setObjectName(QString(name) + "Button");
        button->setAutoRaise(true);
        button->setProperty("action", QString(name));
        button->setText(text);
        row->addWidget(button);
    }
    return bar;
}

QAction* CanvasPanel::action(const char* name, const QString& text, const QKeySequence& keys, Menu menu,
                             std::function<void()> act) {
    auto* made = new QAction(text, this);
    made->setObjectName(name);
    made->setShortcut(keys);
    made->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(made, &QAction::triggered, this, std::move(act));
    addAction(made);
    m_menus[menu].append(made);
    m_actions[name] = made;
    return made;
}

void CanvasPanel::makeActions() {
    CanvasView& view = m_pane->view();
    action("find", tr("&Find in the graph…"), QKeySequence::Find, Menu::edit, [this] { m_search->open(); });
    action("findNext", tr("Find &next"), Qt::Key_F3, Menu::edit, [this] { stepHit(1); });
    action("findPrevious", tr("Find &previous"), Qt::SHIFT | Qt::Key_F3, Menu::edit, [this] { stepHit(-1); });
    action("producers", tr("Select p&roducers"), Qt::CTRL | Qt::Key_Up, Menu::edit,
           [&view] { view.chooseNeighbours(true); });
    action("consumers", tr("Select c&onsumers"), Qt::CTRL | Qt::Key_Down, Menu::edit,
           [&view] { view.chooseNeighbours(false); });
    action("zoomIn", tr("Zoom &in"), QKeySequence::ZoomIn, Menu::view, [&view] { view.zoomIn(); });
    action("zoomOut", tr("Zoom &out"), QKeySequence::ZoomOut, Menu::view, [&view] { view.zoomOut(); });
    action("actualSize", tr("&Actual size"), Qt::CTRL | Qt::Key_1, Menu::view,
           [&view] { view.actualSize(); });
    action("fit", tr("&Fit the graph"), Qt::CTRL | Qt::Key_0, Menu::view, [&view] { view.fit(); });
    action("out", tr("One module &up"), Qt::ALT | Qt::Key_Up, Menu::view, [this] { m_pane->goOut(); });
    action("expandAll", tr("Open &everything here"), Qt::CTRL | Qt::Key_E, Menu::view,
           [this] { m_pane->setAllExpanded(true); });
    action("collapseAll", tr("&Close everything here"), Qt::CTRL | Qt::SHIFT | Qt::Key_E, Menu::view,
           [this] { m_pane->setAllExpanded(false); });
    action("previousLayer", tr("Pre&vious layer"), Qt::CTRL | Qt::Key_PageUp, Menu::view,
           [this] { goToSibling(-1); });
    action("nextLayer", tr("Ne&xt layer"), Qt::CTRL | Qt::Key_PageDown, Menu::view,
           [this] { goToSibling(1); });
    action("exportPng", tr("Export what is seen as &PNG…"), {}, Menu::view, [this] { askForFile("png"); });
    action("exportSvg", tr("Export what is seen as &SVG…"), {}, Menu::view, [this] { askForFile("svg"); });
    for (QToolButton* button : findChildren<QToolButton*>()) {
        QAction* act = m_actions.contains(button->property("action").toString())
                           ? m_actions[button->property("action").toString()]
                           : nullptr;
        if (!act)
            continue;
        const QString keys = act->shortcut().toString(QKeySequence::NativeText);
        const QString plain = act->text().remove('&').remove(QStringLiteral("…"));
        button->setToolTip(keys.isEmpty() ? plain : tr("%1 (%2)").arg(plain, keys));
        button->setAccessibleName(plain);
        connect(button, &QToolButton::clicked, act, &QAction::trigger);
    }
}

QList<QAction*> CanvasPanel::actionsFor(Menu menu) {
    return m_menus.contains(menu) ? m_menus[menu] : QList<QAction*>();
}

void CanvasPanel::showEvent(QShowEvent* event) {
    Panel::showEvent(event);
    if (!std::exchange(m_started, true))
        m_pane->openScope(m_firstScope);
}

void CanvasPanel::themeChanged() {
    m_pane->themeChanged(themeOf(*this));
    updateLegend();
}

/// The palette may come after the word that it changed.
void CanvasPanel::changeEvent(QEvent* event) {
    Panel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        themeChanged();
}

void CanvasPanel::saveState(QSettings& settings) const {
    settings.setValue("scope", QString::fromStdString(m_pane->picture().request.scope));
    settings.setValue("overlay", m_overlayChoice->currentData());
    QStringList hidden;
    for (const Pattern& pattern : patterns()) // by name: slots are ranks, and move with the next pattern
        if (m_legend->hiddenSlots().contains(colourSlot(pattern.name)))
            hidden << qt(pattern.name);
    settings.setValue("hidden", hidden);
}

void CanvasPanel::restoreState(const QSettings& settings) {
    m_overlayChoice->setCurrentIndex(
        std::max(0, m_overlayChoice->findData(settings.value("overlay").toString())));
    std::set<std::int32_t> hidden;
    for (const QString& pattern : settings.value("hidden").toStringList())
        if (const std::int32_t slot = colourSlot(pattern.toStdString()); slot >= 0)
            hidden.insert(slot);
    m_legend->setHiddenSlots(std::move(hidden));
    const std::string scope = settings.value("scope").toString().toStdString();
    const auto& modules = document().graph().modules;
    if (std::any_of(modules.begin(), modules.end(),
                    [&](const ModuleInfo& module) { return module.path == scope; }))
        m_firstScope = scope;
    if (m_started)
        m_pane->openScope(m_firstScope);
}

// What is drawn.

void CanvasPanel::scopeShown() {
    const std::string& scope = m_pane->picture().request.scope;
    m_way->setWay(document().title(), breadcrumbs(document().graph(), scope));
    m_actions["out"]->setEnabled(!scope.empty());
    m_actions["nextLayer"]->setEnabled(!siblingOf(document().graph(), scope, 1).empty());
    m_actions["previousLayer"]->setEnabled(!siblingOf(document().graph(), scope, -1).empty());
    updateLegend();
    showTotal();
    markHits();
    chooseSelected();
}

void CanvasPanel::updateMarks() {
    if (!document().rewritten())
        return;
    m_marks = std::make_shared<const std::vector<NodeMark>>(
        markCanonical(document().graph(), document().analysis(), document().rewritten()->outcomes));
    m_pane->setMarks(m_marks);
    updateLegend();
}

void CanvasPanel::updateLegend() {
    if (const Scene* scene = m_pane->scene(); scene && m_marks)
        m_legend->setEntries(legendOf(scene->diagram, *m_marks), themeOf(*this));
}

void CanvasPanel::updateOverlay() {
    const QString id = m_overlayChoice->currentData().toString();
    m_overlay.reset();
    for (const OverlayChoice& choice : overlayChoices())
        if (id == choice.id)
            m_overlay = std::make_shared<const Overlay>(choice.make(document()));
    m_pane->setOverlay(m_overlay);
    showTotal();
}

void CanvasPanel::showTotal() {
    QString text = m_overlay && m_pane->scene() ? totalText(*m_overlay, m_pane->scene()->diagram) : QString();
    if (m_overlay && text.isEmpty())
        for (const OverlayChoice& choice : overlayChoices())
            if (m_overlayChoice->currentData().toString() == choice.id)
                text = QCoreApplication::translate("overlays", choice.hint);
    m_total->setText(text);
}

void CanvasPanel::goToSibling(int step) {
    const std::string sibling = siblingOf(document().graph(), m_pane->picture().request.scope, step);
    if (!sibling.empty())
        m_pane->openScope(sibling);
}

void CanvasPanel::showMenu(std::int32_t index, const QPoint& position) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (index >= 0) {
        const Box& box = m_pane->scene()->diagram.boxes[static_cast<std::size_t>(index)];
        if (box.expandable) {
            menu->addAction(box.expanded ? tr("Close in place") : tr("Open in place"), this,
                            [this, index] { m_pane->toggle(index); });
            menu->addAction(tr("Open as a scope of its own"), this,
                            [this, index] { m_pane->openBox(index); });
        }
        menu->addActions({m_actions["producers"], m_actions["consumers"]});
        menu->addAction(tr("Copy name"), this, [name = QString::fromStdString(box.title)] {
            QGuiApplication::clipboard()->setText(name);
        });
        menu->addSeparator();
    }
    menu->addActions({m_actions["expandAll"], m_actions["collapseAll"], m_actions["out"], m_actions["fit"],
                      m_actions["exportPng"], m_actions["exportSvg"]});
    menu->popup(position);
}

} // namespace workbench::gui
