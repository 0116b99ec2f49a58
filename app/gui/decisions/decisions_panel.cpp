#include "app/gui/decisions/decisions_panel.h"

#include "app/gui/decisions/place_delegate.h"
#include "app/gui/decisions/reason_delegate.h"

#include <QtGui/QAction>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QMenu>
#include <QtWidgets/QVBoxLayout>

namespace workbench::gui {
namespace {

/// Tokens that the estimate may be for: a decode step of one request and of many, prompts.
constexpr int kTokens[] = {1, 32, 512, 2048};

/// Rows that are seen however low the panel is.
constexpr int kFewestRows = 4;
constexpr int kNoteWidth = 130; // device-independent pixels
constexpr int kLeastColumn = 40;

int widthOf(const QWidget& widget, const QString& text) {
    return widget.fontMetrics().horizontalAdvance(text) + 28;
}

} // namespace

DecisionsPanel::DecisionsPanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent), m_model(new SitesModel(document, this)),
      m_filter(new SitesFilter(*m_model, this)) {
    makeActions();
    build();
    connectTable();
    connect(&selection, &Selection::changed, this, &DecisionsPanel::showSelection);
    connect(&document, &Document::decisionsChanged, this, &DecisionsPanel::showNote);
    connect(&document, &Document::decisionsChanged, this, &DecisionsPanel::updateActions);
    connect(&document, &Document::rewrittenChanged, this, [this] {
        m_filter->followDecisions();
        updateActions();
    });
    connect(&document, &Document::jobChanged, this, &DecisionsPanel::updateVerify);
    connect(&document, &Document::proofsChanged, this, &DecisionsPanel::showColumns);
    connect(&document, &Document::measuredChanged, this, &DecisionsPanel::showColumns);
    showColumns();
    showSelection();
    updateActions();
    updateEmpty();
    updateVerify();
    estimate();
}

void DecisionsPanel::build() {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 6, 8, 4);
    layout->setSpacing(4);
    m_scope = new ScopeBar(document(), *m_model, *m_filter, this);
    m_chips = new VerdictChips(document(), *m_model, *m_filter, this);
    m_result = new QLabel(this);
    m_result->setObjectName("result");
    m_result->setWordWrap(true);
    m_result->setTextFormat(Qt::PlainText);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_result->hide();
    layout->addWidget(makeToolBar());
    layout->addWidget(m_scope);
    layout->addWidget(makeNoteBar());
    layout->addWidget(m_result);
    layout->addWidget(makeTable(), 1);
}

QWidget* DecisionsPanel::makeToolBar() {
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    m_text = new QLineEdit(bar);
    m_text->setObjectName("filter");
    m_text->setPlaceholderText(tr("Filter: pattern, place, reason"));
    m_text->setAccessibleName(tr("Filter of the sites"));
    m_text->setClearButtonEnabled(true);
    m_tokens = new QComboBox(bar);
    m_tokens->setObjectName("tokens");
    m_tokens->setAccessibleName(tr("Tokens that the traffic is estimated for"));
    m_tokens->setToolTip(tr("Tokens in one step that the traffic is estimated for"));
    for (const int tokens : kTokens)
        m_tokens->addItem(tokens == 1 ? tr("1 token") : tr("%n tokens", nullptr, tokens), tokens);
    m_verify = new QToolButton(bar);
    m_verify->setObjectName("verify");
    m_verify->setPopupMode(QToolButton::MenuButtonPopup);
    m_verify->setToolButtonStyle(Qt::ToolButtonTextOnly);
    auto* menu = new QMenu(m_verify);
    menu->addAction(m_actions.verifyAll);
    menu->addAction(m_actions.verifySelected);
    m_verify->setMenu(menu);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_scope->layersField());
    layout->addWidget(m_tokens);
    for (QAction* action : {m_actions.apply, m_actions.reject}) {
        auto* button = new QToolButton(bar);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        layout->addWidget(button);
    }
    layout->addWidget(m_verify);
    return bar;
}

QWidget* DecisionsPanel::makeTable() {
    m_table = new QTableView(this);
    m_table->setObjectName("sites");
    m_table->setAccessibleName(tr("Sites of fusion patterns"));
    m_table->setModel(m_filter);
    m_table->setItemDelegateForColumn(SitesModel::kReason, new ReasonDelegate(*m_model, *m_filter, m_table));
    m_table->setItemDelegateForColumn(SitesModel::kPlace, new PlaceDelegate(m_table));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setWordWrap(false);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setTabKeyNavigation(false);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    sizeRowsAndColumns();
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(SitesModel::kPlace, Qt::AscendingOrder);
    for (QAction* action : {m_actions.apply, m_actions.reject, m_actions.undecided, m_actions.other,
                            m_actions.reveal, m_actions.verifySelected, m_actions.copy})
        m_table->addAction(action);
    m_empty = new QLabel(this);
    m_empty->setObjectName("empty");
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    return m_stack;
}

void DecisionsPanel::sizeRowsAndColumns() {
    // Rows of one height that nobody measures: thousands of them scroll smoothly.
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionsMovable(true);
    header->setHighlightSections(false);
    header->setMinimumSectionSize(kLeastColumn);
    // What is of one length has room for it; paths and reasons share the rest, cut, and are whole as tips.
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setColumnWidth(SitesModel::kPattern, widthOf(*m_table, "add-rms-norm") + 36);
    m_table->setColumnWidth(SitesModel::kState, widthOf(*m_table, tr("applicable")) - 8);
    m_table->setColumnWidth(SitesModel::kBytes, widthOf(*m_table, "123.4 KiB") - 8);
    m_table->setColumnWidth(SitesModel::kGain, widthOf(*m_table, "+10.2 %") - 8);
    m_table->setColumnWidth(SitesModel::kError, widthOf(*m_table, "+ 1.0e-10") - 8);
    for (const int column : {SitesModel::kPlace, SitesModel::kReason})
        header->setSectionResizeMode(column, QHeaderView::Stretch);
    m_table->setMinimumHeight(header->sizeHint().height() +
                              kFewestRows * m_table->verticalHeader()->defaultSectionSize());
}

QWidget* DecisionsPanel::makeNoteBar() {
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("&Note"), bar);
    m_note = new QLineEdit(bar);
    m_note->setObjectName("note");
    m_note->setAccessibleName(tr("Note on the chosen site"));
    m_note->setPlaceholderText(tr("Why you decided so; the plan keeps it"));
    label->setBuddy(m_note);
    m_note->setMinimumWidth(kNoteWidth);
    layout->addWidget(m_chips, 3);
    layout->addWidget(label);
    layout->addWidget(m_note, 1);
    return bar;
}

void DecisionsPanel::connectTable() {
    connect(m_text, &QLineEdit::textChanged, m_filter, &SitesFilter::setText);
    connect(m_tokens, &QComboBox::currentIndexChanged, this, &DecisionsPanel::estimate);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &DecisionsPanel::selectionMoved);
    connect(m_table, &QTableView::doubleClicked, this, [this] { selection().reveal(); });
    connect(m_table, &QTableView::clicked, this, &DecisionsPanel::followOther);
    connect(m_note, &QLineEdit::editingFinished, this, [this] {
        const auto site = currentSite();
        if (site && m_note->text() != document().note(*site))
            document().setNote(*site, m_note->text());
    });
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, &DecisionsPanel::updateEmpty);
    connect(m_filter, &QAbstractItemModel::rowsRemoved, this, &DecisionsPanel::updateEmpty);
    connect(m_filter, &QAbstractItemModel::layoutChanged, this, &DecisionsPanel::updateEmpty);
}

void DecisionsPanel::updateEmpty() {
    const bool none = m_model->rowCount() == 0;
    m_empty->setText(
        none ? tr("No fusion pattern has a place in this model.\nThe overview says what was looked for.")
             : tr("No site matches.\nClear the filter, the layers or the verdicts above."));
    m_stack->setCurrentIndex(m_filter->rowCount() == 0 ? 1 : 0);
}

/// Gains and errors have their columns once there are some: until then paths and reasons need the room.
void DecisionsPanel::showColumns() {
    bool hasGain = false, hasError = false;
    for (std::size_t i = 0; i < document().analysis().sites.size(); ++i) {
        hasGain = hasGain || document().gain(i);
        hasError = hasError || document().proof(i);
    }
    m_table->setColumnHidden(SitesModel::kGain, !hasGain);
    m_table->setColumnHidden(SitesModel::kError, !hasError);
}

void DecisionsPanel::themeChanged() {
    m_table->viewport()->update();
}

void DecisionsPanel::saveState(QSettings& settings) const {
    settings.setValue("header", m_table->horizontalHeader()->saveState());
    settings.setValue("filter", m_text->text());
    settings.setValue("layers", m_scope->layers());
    settings.setValue("verdicts", m_chips->pressed());
    settings.setValue("tokens", m_tokens->currentIndex());
}

void DecisionsPanel::restoreState(const QSettings& settings) {
    if (settings.contains("header"))
        m_table->horizontalHeader()->restoreState(settings.value("header").toByteArray());
    showColumns();
    m_text->setText(settings.value("filter").toString());
    m_scope->setLayers(settings.value("layers").toString());
    m_chips->press(settings.value("verdicts").toStringList());
    m_tokens->setCurrentIndex(settings.value("tokens", 0).toInt());
}

} // namespace workbench::gui
