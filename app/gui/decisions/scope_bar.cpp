#include "app/gui/decisions/scope_bar.h"

#include "app/gui/decisions/flow_layout.h"
#include "app/gui/document/state_text.h"
#include "fusion/match/pattern.h"

#include <QtCore/QSignalBlocker>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>

#include <algorithm>

namespace workbench::gui {
namespace {

using State = SiteOutcome::State;

/// Chips in the order of a reader's questions: what is on, what is on offer, what is in the way.
constexpr State kStates[] = {State::applied,   State::undecided, State::rejected, State::contained,
                             State::conflicts, State::refused,   State::present};

QString nameOf(State state) {
    return "verdict_" + QString::number(static_cast<int>(state));
}

} // namespace

ScopeBar::ScopeBar(Document& document, SitesModel& model, SitesFilter& filter, QWidget* parent)
    : QWidget(parent), m_document(document), m_model(model), m_filter(filter),
      m_layersField(new QWidget(this)), m_layers(new QLineEdit(m_layersField)) {
    makeLayersField();
    new FlowLayout(this);
    addBox({}, tr("All"));
    for (const Pattern& pattern : patterns())
        if (!decidable(std::string(pattern.name)).empty())
            addBox(std::string(pattern.name),
                   QString::fromUtf8(pattern.name.data(), qsizetype(pattern.name.size())));
    connect(m_layers, &QLineEdit::textChanged, this, &ScopeBar::takeLayers);
    connect(&document, &Document::decisionsChanged, this, &ScopeBar::refresh);
    refresh();
}

void ScopeBar::makeLayersField() {
    auto* layout = new QHBoxLayout(m_layersField);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("&Layers"), m_layersField);
    label->setBuddy(m_layers);
    m_layers->setObjectName("layers");
    m_layers->setPlaceholderText(tr("all, or 0-11, 20"));
    m_layers->setAccessibleName(tr("Layers that are shown and decided"));
    m_layers->setToolTip(tr("Layers that are shown and that the checkboxes here act on: 0-11, 20"));
    m_layers->setClearButtonEnabled(true);
    m_layers->setFixedWidth(m_layers->fontMetrics().horizontalAdvance(m_layers->placeholderText()) + 40);
    layout->addWidget(label);
    layout->addWidget(m_layers);
}

void ScopeBar::addBox(const std::string& pattern, const QString& label) {
    auto* box = new QCheckBox(label, this);
    box->setObjectName(pattern.empty() ? "pattern_all" : "pattern_" + QString::fromStdString(pattern));
    box->setTristate(true);
    m_boxes.emplace(pattern, box);
    layout()->addWidget(box);
    connect(box, &QCheckBox::clicked, this, [this, pattern] {
        // A click on a box that is not full fills it, whatever state Qt would go to next.
        const auto rows = decidable(pattern);
        const bool full = std::all_of(rows.begin(), rows.end(), [&](std::size_t row) {
            return m_document.decision(row) == Decision::apply;
        });
        decide(pattern, !full);
    });
}

std::vector<std::size_t> ScopeBar::decidable(const std::string& pattern) const {
    std::vector<std::size_t> rows;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const Site& site = m_model.site(row);
        if (site.verdict == SiteVerdict::applicable && (pattern.empty() || site.pattern == pattern) &&
            m_filter.inLayers(row))
            rows.push_back(static_cast<std::size_t>(row));
    }
    return rows;
}

void ScopeBar::decide(const std::string& pattern, bool apply) {
    QString what = pattern.empty() ? tr("all") : QString::fromStdString(pattern);
    if (!m_layers->text().trimmed().isEmpty())
        what = tr("%1 in layers %2").arg(what, m_layers->text().trimmed());
    m_document.apply(decidable(pattern), apply ? Decision::apply : Decision::undecided,
                     apply ? tr("apply %1").arg(what) : tr("take back %1").arg(what));
    refresh();
}

void ScopeBar::takeLayers(const QString& text) {
    const auto range = LayerRange::parse(text.toStdString());
    QPalette colours = palette();
    if (!range)
        colours.setColor(QPalette::Text, QColor(200, 40, 40));
    m_layers->setPalette(colours);
    m_layers->setToolTip(range ? tr("Layers that are shown and that the checkboxes here act on: 0-11, 20")
                               : QString::fromStdString(range.error().message));
    if (range)
        m_filter.setLayers(*range);
    refresh();
}

void ScopeBar::refresh() {
    struct Count {
        int applied = 0, all = 0;
    };
    std::map<std::string_view, Count> counts;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const Site& site = m_model.site(row);
        if (site.verdict != SiteVerdict::applicable || !m_filter.inLayers(row))
            continue;
        const bool applied = m_document.decision(static_cast<std::size_t>(row)) == Decision::apply;
        for (Count* count : {&counts[site.pattern], &counts[std::string_view()]}) {
            ++count->all;
            count->applied += applied;
        }
    }
    for (const auto& [pattern, box] : m_boxes) {
        const auto [applied, all] = counts[pattern];
        const QSignalBlocker quiet(box);
        box->setCheckState(applied == 0     ? Qt::Unchecked
                           : applied == all ? Qt::Checked
                                            : Qt::PartiallyChecked);
        const QString name = pattern.empty() ? tr("All") : QString::fromStdString(pattern);
        box->setText(QString("%1 %2/%3").arg(name).arg(applied).arg(all));
        box->setEnabled(all > 0);
        box->setToolTip(all > 0 ? tr("Apply or take back %n sites", nullptr, all)
                                : tr("No site of it can be decided here"));
    }
    layout()->invalidate();
}

VerdictChips::VerdictChips(Document& document, SitesModel& model, SitesFilter& filter, QWidget* parent)
    : QWidget(parent), m_model(model), m_filter(filter) {
    auto* layout = new FlowLayout(this);
    for (const State state : kStates) {
        auto* chip = new QToolButton(this);
        chip->setObjectName(nameOf(state));
        chip->setCheckable(true);
        chip->setAutoRaise(true);
        chip->setFocusPolicy(Qt::TabFocus);
        chip->setToolTip(tr("Show only sites that are %1").arg(stateText(state)));
        m_chips.emplace(state, chip);
        layout->addWidget(chip);
        connect(chip, &QToolButton::toggled, this, &VerdictChips::takeStates);
    }
    connect(&document, &Document::rewrittenChanged, this, &VerdictChips::refresh);
    refresh();
}

void VerdictChips::takeStates() {
    std::set<State> states;
    for (const auto& [state, chip] : m_chips)
        if (chip->isChecked())
            states.insert(state);
    m_filter.setStates(std::move(states));
}

void VerdictChips::refresh() {
    std::map<State, int> counts;
    for (int row = 0; row < m_model.rowCount(); ++row)
        ++counts[m_model.state(row)];
    for (const auto& [state, chip] : m_chips) {
        chip->setText(QString("%1 %2").arg(stateText(state)).arg(counts[state]));
        chip->setVisible(counts[state] > 0 || chip->isChecked());
    }
    layout()->invalidate();
}

QStringList VerdictChips::pressed() const {
    QStringList names;
    for (const auto& [state, chip] : m_chips)
        if (chip->isChecked())
            names << chip->objectName();
    return names;
}

void VerdictChips::press(const QStringList& names) {
    for (const auto& [state, chip] : m_chips)
        chip->setChecked(names.contains(chip->objectName()));
    refresh();
}

} // namespace workbench::gui
