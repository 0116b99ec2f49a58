#include "app/gui/before_after/before_after_panel.h"

#include "app/gui/before_after/step_bar.h"
#include "app/gui/canvas/widget_theme.h"
#include "app/gui/document/qt_text.h"
#include "fusion/match/pattern.h"

#include <QtGui/QAction>
#include <QtGui/QKeyEvent>
#include <QtWidgets/QLabel>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QStackedLayout>
#include <QtWidgets/QVBoxLayout>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr GraphSide kSides[] = {GraphSide::original, GraphSide::rewritten};

std::size_t at(GraphSide side) {
    return side == GraphSide::rewritten;
}

QString coloured(const QColor& colour, const QString& sign, const QString& text) {
    return QStringLiteral("<span style='background:%1; color:%2'>&nbsp;%3&nbsp;</span> %4")
        .arg(colour.name(), Theme::light().textOn(colour).name(), sign, text);
}

} // namespace

BeforeAfterPanel::BeforeAfterPanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent) {
    build();
    connect(m_bar, &StepBar::stepRequested, this, &BeforeAfterPanel::stepBy);
    connect(m_bar, &StepBar::patternChanged, this, [this] {
        filterSteps();
        goTo(m_steps.empty() ? -1 : 0);
    });
    connect(m_sync, &PaneSync::chosen, this, &BeforeAfterPanel::tell);
    connect(&selection, &Selection::changed, this, &BeforeAfterPanel::takeSelection);
    connect(&document, &Document::rewrittenChanged, this, [this] {
        m_stale = true;
        if (isVisible())
            refresh();
    });
    const auto add = [this](const QString& text, const QKeySequence& keys, int by) {
        auto* action = new QAction(text, this);
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, [this, by] { stepBy(by); });
        addAction(action);
        m_actions << action;
    };
    add(tr("Previous re&write"), Qt::CTRL | Qt::Key_Left, -1);
    add(tr("Next rew&rite"), Qt::CTRL | Qt::Key_Right, 1);
    themeChanged();
}

void BeforeAfterPanel::build() {
    m_bar = new StepBar(this);
    m_splitter = new QSplitter(Qt::Horizontal, this);
    m_splitter->setObjectName("beforeAfterSplitter");
    m_splitter->setChildrenCollapsible(false);
    for (const GraphSide side : kSides)
        m_splitter->addWidget(buildSide(side));
    m_sync = new PaneSync(*m_panes[0], *m_panes[1], this);
    m_fate = new QLabel(this);
    m_fate->setObjectName("fate");
    m_fate->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_key = new QLabel(this);
    m_key->setObjectName("fateKey");
    m_key->setTextFormat(Qt::RichText);

    auto* graphs = new QWidget(this);
    auto* column = new QVBoxLayout(graphs);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addWidget(m_splitter, 1);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(8, 4, 8, 4);
    foot->addWidget(m_fate, 1);
    foot->addWidget(m_key);
    column->addLayout(foot);

    m_hint = new QLabel(
        tr("No rewrite is applied yet.\nApply some in the decisions: here you then see, rewrite by rewrite, "
           "what became of the graph."),
        this);
    m_hint->setObjectName("beforeAfterHint");
    m_hint->setAlignment(Qt::AlignCenter);
    m_hint->setWordWrap(true);
    m_pages = new QStackedLayout(this);
    m_pages->addWidget(m_hint);
    m_pages->addWidget(graphs);
    m_pages->setCurrentWidget(graphs); // the hint only once it is known to be true
}

QWidget* BeforeAfterPanel::buildSide(GraphSide side) {
    auto* frame = new QWidget(m_splitter);
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* title = m_titles[at(side)] = new QLabel(frame);
    title->setContentsMargins(8, 3, 8, 3);
    title->setTextFormat(Qt::RichText);
    title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* pane = m_panes[at(side)] = new CanvasPane(document().locations(), frame);
    pane->setObjectName(side == GraphSide::original ? "originalPane" : "rewrittenPane");
    pane->view().installEventFilter(this);
    connect(&pane->view(), &CanvasView::revealRequested, this, [this] { selection().reveal(); });
    connect(pane, &CanvasPane::shown, this, [this, side] { m_titles[at(side)]->setText(sideText(side)); });
    column->addWidget(title);
    column->addWidget(pane, 1);
    return frame;
}

void BeforeAfterPanel::showEvent(QShowEvent* event) {
    Panel::showEvent(event);
    if (m_stale)
        refresh();
    else if (!event->spontaneous())
        takeSelection();
}

/// The palette may come after the word that it changed.
void BeforeAfterPanel::changeEvent(QEvent* event) {
    Panel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        themeChanged();
}

/// Matching two graphs of many thousand nodes takes a moment: not in this thread.
void BeforeAfterPanel::refresh() {
    const auto rewritten = document().rewritten();
    if (!rewritten)
        return;
    m_stale = false;
    m_jobs.start(this, [this, rewritten, model = document().session().sharedModel()](const Job&) -> Closure {
        using Map = std::shared_ptr<const Correspondence>;
        const auto map = guarded<Map>([&] {
            return std::make_shared<const Correspondence>(model->canonical, model->analysis, *rewritten);
        });
        return [this, rewritten, map] {
            if (map)
                take(rewritten, *map);
            else
                Q_EMIT document().failed(map.error());
        };
    });
}

void BeforeAfterPanel::take(std::shared_ptr<const Rewritten> rewritten,
                            std::shared_ptr<const Correspondence> map) {
    if (rewritten != document().rewritten())
        return; // a later one is on its way
    m_rewritten = rewritten;
    const auto& model = document().session().sharedModel();
    const bool some = !map->steps().empty();
    const std::shared_ptr<const Graph> original(model, &model->canonical),
        result(rewritten, &rewritten->graph);
    m_sync->setCorrespondence(some ? map : nullptr, original, result);
    m_pages->setCurrentIndex(some);
    if (!some) {
        m_steps.clear();
        m_at = -1;
        Q_EMIT updated();
        return;
    }
    m_panes[0]->setSource({original, std::make_shared<const ModuleTree>(document().tree())});
    m_panes[1]->setSource({result, nullptr});
    QStringList patterns;
    for (const Pattern& pattern : workbench::patterns())
        if (std::any_of(map->steps().begin(), map->steps().end(), [&](const RewriteStep& step) {
                return document().analysis().sites[step.site].pattern == pattern.name;
            }))
            patterns << qt(pattern.name);
    m_bar->setPatterns(patterns);
    filterSteps();
    const int chosen = isVisible() ? stepChosen() : -1;
    showStep(chosen >= 0 ? chosen : stepOf(m_siteShown));
    Q_EMIT updated();
}

void BeforeAfterPanel::filterSteps() {
    m_steps.clear();
    m_at = -1;
    if (!m_sync->correspondence())
        return;
    const std::string pattern = m_bar->pattern().toStdString();
    for (const RewriteStep& step : m_sync->correspondence()->steps())
        if (pattern.empty() || document().analysis().sites[step.site].pattern == pattern)
            m_steps.push_back(step);
}

void BeforeAfterPanel::stepBy(int by) {
    if (!m_steps.empty())
        goTo(m_at < 0 ? (by > 0 ? 0 : static_cast<int>(m_steps.size()) - 1) : m_at + by);
}

void BeforeAfterPanel::goTo(int step) {
    showStep(step);
    if (m_at < 0)
        return;
    const std::size_t site = m_steps[static_cast<std::size_t>(m_at)].site;
    m_choosing = true;
    selection().selectSite(site, document().analysis().sites[site].module);
    m_choosing = false;
}

void BeforeAfterPanel::showStep(int index) {
    const int count = static_cast<int>(m_steps.size());
    m_at = count == 0 ? -1 : std::clamp(index, 0, count - 1);
    m_fate->clear();
    if (m_at < 0)
        return m_bar->setPlace(-1, count, {});
    const RewriteStep& step = m_steps[static_cast<std::size_t>(m_at)];
    m_siteShown = document().analysis().sites[step.site].id;
    m_bar->setPlace(m_at, count, stepText(step));
    m_panes[0]->revealIn(step.scope, step.expanded, step.original);
    m_panes[1]->revealIn(step.scope, step.expanded, step.rewritten);
}

QString BeforeAfterPanel::stepText(const RewriteStep& step) const {
    const Site& site = document().analysis().sites[step.site];
    QStringList made;
    for (const NodeId node : step.rewritten)
        made << QString::fromStdString(m_rewritten->graph.node(node).op).section('.', 1, 1);
    return tr("%1: %n nodes become %2", nullptr, static_cast<int>(step.original.size()))
        .arg(QString::fromStdString(site.id), made.join(" + "));
}

QString BeforeAfterPanel::sideText(GraphSide side) const {
    const Scene* scene = m_panes[at(side)]->scene();
    const QString scope = QString::fromStdString(scene ? scene->diagram.scope : std::string());
    const QString name = side == GraphSide::original ? tr("Original") : tr("Rewritten");
    const Graph* graph = m_panes[at(side)]->source().graph.get();
    return tr("<b>%1</b> &nbsp; %2 &nbsp; %3")
        .arg(name, scope.isEmpty() ? tr("whole model") : scope,
             tr("%L1 nodes in the model").arg(graph ? static_cast<qulonglong>(graph->nodes.size()) : 0));
}

void BeforeAfterPanel::tell(GraphSide side) {
    const std::int32_t index = m_panes[at(side)]->view().current();
    m_fate->setText(m_sync->fateText(side, index));
    m_fate->setToolTip(m_fate->text());
    const Correspondence* map = m_sync->correspondence();
    if (index < 0 || !m_sync->isCurrent(side))
        return;
    const Box& box = m_panes[at(side)]->scene()->diagram.boxes[static_cast<std::size_t>(index)];
    m_choosing = true;
    if (box.kind == Box::Kind::module) {
        selection().selectModule(box.module);
    } else if (box.node != kNone && side == GraphSide::original) {
        selection().selectNode(box.node, std::string(document().graph().modulePath(box.node)));
    } else if (box.node != kNone) {
        const std::int32_t site = map->site(side, box.node);
        const std::vector<NodeId>& origins = map->partners(side, box.node);
        if (site >= 0)
            selection().selectSite(static_cast<std::size_t>(site),
                                   document().analysis().sites[static_cast<std::size_t>(site)].module);
        else if (!origins.empty())
            selection().selectNode(origins.front(),
                                   std::string(document().graph().modulePath(origins.front())));
    }
    m_choosing = false;
}

/// A site that is chosen elsewhere becomes the step, if it is one.
void BeforeAfterPanel::takeSelection() {
    if (m_choosing || !isVisible())
        return;
    if (const int step = stepChosen(); step >= 0 && step != m_at)
        showStep(step);
}

int BeforeAfterPanel::stepChosen() const {
    const auto& site = selection().site();
    return site ? stepOf(document().analysis().sites[*site].id) : -1;
}

int BeforeAfterPanel::stepOf(const std::string& site) const {
    const auto found = std::find_if(m_steps.begin(), m_steps.end(), [&](const RewriteStep& step) {
        return document().analysis().sites[step.site].id == site;
    });
    return found == m_steps.end() ? -1 : static_cast<int>(found - m_steps.begin());
}

/// Left and right step through the rewrites; up and down still walk along the edges.
bool BeforeAfterPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress)
        return Panel::eventFilter(watched, event);
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Left:
        stepBy(-1);
        return true;
    case Qt::Key_Right:
        stepBy(1);
        return true;
    case Qt::Key_Home:
        goTo(0);
        return true;
    case Qt::Key_End:
        goTo(static_cast<int>(m_steps.size()) - 1);
        return true;
    default:
        return Panel::eventFilter(watched, event);
    }
}

void BeforeAfterPanel::themeChanged() {
    const Theme& theme = themeOf(*this);
    for (CanvasPane* pane : m_panes)
        pane->themeChanged(theme);
    m_key->setText(coloured(theme.merged, QStringLiteral("Σ"), tr("merged")) + " &nbsp; " +
                   coloured(theme.removed, QStringLiteral("−"), tr("removed")) + " &nbsp; " +
                   coloured(theme.added, QStringLiteral("+"), tr("added")));
}

QList<QAction*> BeforeAfterPanel::actionsFor(Menu menu) {
    return menu == Menu::view ? m_actions : QList<QAction*>();
}

void BeforeAfterPanel::saveState(QSettings& settings) const {
    settings.setValue("splitter", m_splitter->saveState());
    settings.setValue("site", QString::fromStdString(m_siteShown));
}

void BeforeAfterPanel::restoreState(const QSettings& settings) {
    m_splitter->restoreState(settings.value("splitter").toByteArray());
    m_siteShown = settings.value("site").toString().toStdString();
}

} // namespace workbench::gui
