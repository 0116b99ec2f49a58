#include "app/gui/overview/overview_panel.h"

#include "app/gui/overview/coverage_view.h"
#include "app/gui/overview/left_delegate.h"
#include "app/gui/overview/left_model.h"
#include "app/gui/overview/module_model.h"

#include <QtCore/QScopedValueRollback>
#include <QtCore/QSortFilterProxyModel>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QTreeView>
#include <QtWidgets/QVBoxLayout>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kMostCoverageRows = 10; // more are scrolled to
constexpr int kIndentation = 12;      // modules are five deep
// Device-independent pixels of the panel from which there is room for a column.
constexpr int kSizeWidth = 300, kClassWidth = 400;

QWidget* section(QSplitter* parts, std::initializer_list<QWidget*> widgets) {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    for (QWidget* widget : widgets)
        column->addWidget(widget);
    parts->addWidget(box);
    return box;
}

QTreeView* treeView(const char* name, const QString& accessible) {
    auto* view = new QTreeView;
    view->setObjectName(name);
    view->setAccessibleName(accessible);
    view->setUniformRowHeights(true);
    view->setAllColumnsShowFocus(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    return view;
}

} // namespace

OverviewPanel::OverviewPanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent), m_headline(new QLabel),
      m_applyAll(new QPushButton(tr("Apply everything found"))), m_parts(new QSplitter(Qt::Vertical)),
      m_coverage(new CoverageModel(this)), m_modules(new ModuleModel(document.tree(), this)),
      m_left(new LeftModel(this)), m_leftFilter(new QSortFilterProxyModel(this)) {
    m_headline->setObjectName("headline");
    m_headline->setWordWrap(true);
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_headline->setContentsMargins(10, 6, 10, 2);
    m_headline->setText(QString::fromStdString(modelLine(document.session().model().facts)));
    m_applyAll->setObjectName("applyAll");
    m_applyAll->setToolTip(tr("Decide `apply` for every site that is applicable; undo takes it back"));
    connect(m_applyAll, &QPushButton::clicked, this, [this] {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < this->document().analysis().sites.size(); ++i)
            if (this->document().analysis().sites[i].verdict == SiteVerdict::applicable)
                all.push_back(i);
        this->document().apply(all, Decision::apply, tr("apply everything"));
    });
    makeTree(m_parts);
    makeLeft(m_parts);
    m_parts->setChildrenCollapsible(false);
    m_parts->setStretchFactor(0, 2);
    m_parts->setStretchFactor(1, 1);
    auto* buttonRow = new QHBoxLayout;
    buttonRow->setContentsMargins(10, 0, 10, 0);
    buttonRow->addWidget(m_applyAll);
    buttonRow->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_headline);
    column->addLayout(buttonRow);
    column->addWidget(makeCoverage());
    column->addWidget(m_parts, 1);
    connect(&document, &Document::rewrittenChanged, this, &OverviewPanel::compute);
    connect(&selection, &Selection::changed, this, &OverviewPanel::follow);
    compute();
    follow();
}

QWidget* OverviewPanel::makeCoverage() {
    m_coverageView = new QListView;
    m_coverageView->setObjectName("coverage");
    m_coverageView->setAccessibleName(tr("Coverage of each pattern"));
    m_coverageView->setToolTip(tr("Choose a pattern to see what is left of it"));
    m_coverageView->setModel(m_coverage);
    m_coverageView->setItemDelegate(new CoverageDelegate(m_coverageView));
    m_coverageView->setFrameShape(QFrame::NoFrame);
    m_coverageView->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_coverageView->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // rows are as wide as there is room
    m_coverageView->setResizeMode(QListView::Adjust);
    connect(m_coverageView->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const QModelIndexList chosen = m_coverageView->selectionModel()->selectedIndexes();
        m_leftFilter->setFilterFixedString(
            chosen.isEmpty() ? QString() : chosen.front().data(CoverageModel::pattern).toString());
    });
    // A second click on the chosen pattern shows all again.
    connect(m_coverageView, &QListView::clicked, this,
            [this, last = QPersistentModelIndex()](const QModelIndex& index) mutable {
                if (last == index) {
                    m_coverageView->clearSelection();
                    last = QPersistentModelIndex();
                } else {
                    last = index;
                }
            });
    return m_coverageView;
}

/// Narrow: what a row says elsewhere too gives way to its name, instead of a scroll bar below.
void OverviewPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    m_tree->setColumnHidden(ModuleModel::className, width() < kClassWidth);
    m_tree->setColumnHidden(ModuleModel::size, width() < kSizeWidth);
}

/// Not a focus proxy: Tab would pass over what stands above the tree.
void OverviewPanel::focusInEvent(QFocusEvent*) {
    m_tree->setFocus(Qt::OtherFocusReason);
}

/// As high as its rows, up to a number of them.
void OverviewPanel::fitCoverage() {
    const int rows = std::min(m_coverage->rowCount(), kMostCoverageRows);
    m_coverageView->setFixedHeight(rows * std::max(0, m_coverageView->sizeHintForRow(0)) + 4);
}

void OverviewPanel::makeTree(QSplitter* parts) {
    m_tree = treeView("modules", tr("Modules of the model"));
    m_tree->setModel(m_modules);
    m_tree->setIndentation(kIndentation);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(ModuleModel::name, QHeaderView::Stretch);
    m_tree->setColumnWidth(ModuleModel::fused, 68);
    m_tree->setColumnWidth(ModuleModel::size, 78);
    m_tree->setColumnWidth(ModuleModel::className, 130);
    m_tree->expandToDepth(2);
    section(parts, {m_tree});
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& index) {
                if (!m_following && index.isValid())
                    this->selection().selectModule(m_modules->pathOf(index));
            });
    connect(m_tree, &QTreeView::activated, this, [this](const QModelIndex& index) {
        this->selection().selectModule(m_modules->pathOf(index));
        this->selection().reveal();
    });
}

void OverviewPanel::makeLeft(QSplitter* parts) {
    m_leftFilter->setSourceModel(m_left);
    m_leftFilter->setFilterRole(LeftModel::pattern);
    m_leftFilter->setSortCaseSensitivity(Qt::CaseInsensitive);
    m_leftView = treeView("left", tr("What is left and why"));
    m_leftView->setModel(m_leftFilter);
    m_leftView->setRootIsDecorated(false);
    m_leftView->setItemDelegate(new LeftDelegate(m_leftView));
    for (const int column : {LeftModel::state, LeftModel::why}) // the delegate draws them
        m_leftView->setColumnHidden(column, true);
    m_leftHint = new QLabel(tr("Nothing is left: every place is fused."));
    m_leftHint->setContentsMargins(10, 4, 10, 4);
    m_leftHint->setWordWrap(true);
    section(parts, {m_leftHint, m_leftView});
    const auto choose = [this](const QModelIndex& index) {
        if (!index.isValid())
            return;
        const std::size_t site = m_left->firstSite(m_leftFilter->mapToSource(index).row());
        this->selection().selectSite(site, this->document().analysis().sites[site].module);
    };
    connect(m_leftView->selectionModel(), &QItemSelectionModel::currentChanged, this, choose);
    connect(m_leftView, &QTreeView::activated, this, [this, choose](const QModelIndex& index) {
        choose(index);
        this->selection().reveal();
    });
}

/// Thousands of sites are grouped in a thread.
void OverviewPanel::compute() {
    document().look<Overview>(
        this,
        [rewritten = document().rewritten()](Session& session, const Job&) -> Result<Overview> {
            return overviewOf(session.model(), *rewritten);
        },
        [this](Result<Overview> overview) {
            if (overview)
                showOverview(std::move(overview).value());
        });
}

void OverviewPanel::showOverview(Overview overview) {
    const TracedModel& model = document().session().model();
    m_headline->setText(tr("%1\n%L2 nodes, %L3 after the rewrites")
                            .arg(QString::fromStdString(modelLine(model.facts)))
                            .arg(overview.nodes)
                            .arg(overview.rewrittenNodes));
    std::int64_t undecided = 0;
    for (const PatternSummary& pattern : overview.patterns)
        undecided += pattern.countOf("applicable");
    m_applyAll->setVisible(undecided > 0);
    m_modules->setFusion(overview);
    m_coverage->setPatterns(std::move(overview.patterns));
    fitCoverage();
    m_leftHint->setVisible(overview.left.empty());
    m_leftView->setVisible(!overview.left.empty());
    for (SiteGroup& group : overview.left)
        if (group.reason.empty() && !group.sites.empty())
            group.reason = document().note(group.sites.front()).toStdString(); // of the user
    m_left->setGroups(std::move(overview.left));
}

void OverviewPanel::follow() {
    const QScopedValueRollback guard(m_following, true);
    const QModelIndex index = m_modules->indexOf(selection().module());
    if (index != m_tree->currentIndex().siblingAtColumn(0)) {
        m_tree->setCurrentIndex(index);
        m_tree->scrollTo(index);
    }
}

void OverviewPanel::saveState(QSettings& settings) const {
    settings.setValue("parts", m_parts->saveState());
    settings.setValue("tree", m_tree->header()->saveState());
}

void OverviewPanel::restoreState(const QSettings& settings) {
    m_parts->restoreState(settings.value("parts").toByteArray());
    m_tree->header()->restoreState(settings.value("tree").toByteArray());
}

} // namespace workbench::gui
