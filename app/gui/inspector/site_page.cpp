#include "app/gui/inspector/site_page.h"

#include "app/draw/theme.h"
#include "app/gui/document/state_text.h"
#include "app/gui/inspector/markup.h"
#include "app/gui/inspector/text_block.h"
#include "app/session/plan_builder.h"
#include "app/session/site_evidence.h"
#include "app/session/summary.h"
#include "fusion/match/pattern.h"

#include <QtGui/QFontDatabase>
#include <QtWidgets/QButtonGroup>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr std::size_t kMostNodes = 12, kMostNames = 12;
/// Tokens of the estimate: one decode step, one prompt.
constexpr int kTokens[] = {1, 512};

QString coloured(const QString& text, const QColor& colour) {
    return QString("<span style=\"color: %1\">%2</span>").arg(colour.name(), text);
}

const Theme& themeOf(const QWidget& widget) {
    return widget.palette().color(QPalette::Base).lightness() < 128 ? Theme::darkOne() : Theme::light();
}

QString placeOf(const Graph& graph, NodeId node) {
    if (node == kNone)
        return {};
    const std::string source = sourceText(graph, node);
    return nodeLink(graph, node) + (source.empty() ? QString() : "<br>" + muted(escaped(source)));
}

} // namespace

SitePage::SitePage(std::size_t site, const PageContext& context, QWidget* parent)
    : Page(context, parent), m_site(site) {
    addTitle(escaped(this->site().pattern),
             moduleLink(this->site().module,
                        this->site().module.empty() ? tr("model") : escaped(this->site().module)));
    addState();
    if (this->site().verdict == SiteVerdict::applicable)
        addDecisions();
    addMiss();
    addConditions();
    addWorth();
    addPattern();
    addParts();
    addForward(this->site().module, this->site().id);
    if (const auto& roles = this->site().roles; !roles.empty())
        addSource(roles.front().node);
    else if (this->site().miss && this->site().miss->node != kNone)
        addSource(this->site().miss->node);
    finish();
}

void SitePage::addState() {
    const SiteOutcome& outcome = document().outcome(m_site);
    using State = SiteOutcome::State;
    const QString shown = stateText(outcome.state);
    QString text = QString("<b>%1</b>").arg(shown);
    if (!outcome.with.empty()) {
        const auto& sites = analysis().sites;
        const auto other =
            std::find_if(sites.begin(), sites.end(), [&](const Site& one) { return one.id == outcome.with; });
        const QString name = other == sites.end() ? escaped(outcome.with)
                                                  : siteLink(analysis(), std::size_t(other - sites.begin()));
        text += ' ' + (outcome.state == State::contained
                           ? tr("in %1, which does its work too").arg(name)
                           : tr("with %1, which removes some of the same nodes").arg(name));
    }
    if (const QString note = document().note(m_site); !note.isEmpty())
        text += "<br>" + tr("Note: %1").arg(note.toHtmlEscaped());
    addText(text);
}

void SitePage::addDecisions() {
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    auto* group = new QButtonGroup(row);
    const auto addButton = [&](const QString& text, const char* name, Decision decision,
                               const QString& what) {
        auto* button = new QToolButton(row);
        button->setText(text);
        button->setObjectName(name);
        button->setCheckable(true);
        button->setFocusPolicy(Qt::TabFocus);
        button->setChecked(document().decision(m_site) == decision);
        group->addButton(button);
        layout->addWidget(button);
        connect(button, &QToolButton::clicked, this,
                [this, decision, what] { document().apply({m_site}, decision, what.arg(qt(site().id))); });
    };
    addButton(tr("Apply"), "apply", Decision::apply, tr("apply %1"));
    addButton(tr("Reject"), "reject", Decision::reject, tr("reject %1"));
    addButton(tr("Undecided"), "undecided", Decision::undecided, tr("take back %1"));
    layout->addStretch(1);
    add(row);
}

void SitePage::addMiss() {
    if (!site().miss)
        return;
    const NoMatch& miss = *site().miss;
    TextBlock* block =
        addText(table({}, {{muted(tr("expected")), escaped(miss.expected)},
                           {muted(tr("found")), coloured(escaped(miss.found), themeOf(*this).removed)},
                           {muted(tr("at")), placeOf(graph(), miss.node)}}));
    block->setObjectName("miss");
    block->setAccessibleName(tr("First condition that failed"));
}

void SitePage::addConditions() {
    Section* section = addSection(tr("Conditions"), "conditions");
    const auto* conditions = evidence().conditions(m_site);
    if (!conditions) {
        section->add(text(muted(tr("matching again…"))));
        return;
    }
    // One column: the dock is narrow, and a condition is a sentence.
    QList<std::pair<QString, QString>> points;
    for (const CheckedCondition& one : *conditions) {
        const QString mark = one.holds ? coloured(QString::fromUtf8("\u2713"), themeOf(*this).added)
                                       : coloured(QString::fromUtf8("\u2717"), themeOf(*this).removed);
        QStringList found;
        if (!one.found.empty())
            found << muted(escaped(one.found));
        if (one.node != kNone)
            found << nodeLink(graph(), one.node) + ' ' + muted(escaped(sourceText(graph(), one.node)));
        const QString condition =
            one.holds ? escaped(one.condition) : "<b>" + escaped(one.condition) + "</b>";
        points.emplace_back(
            mark,
            condition + (found.isEmpty() ? QString() : "<br>" + found.join(muted(QStringLiteral(" · ")))));
    }
    section->add(text(marked(points)));
    if (site().verdict == SiteVerdict::refused)
        section->add(text(muted(tr("What the pattern asks after this one was not looked at."))));
}

void SitePage::addWorth() {
    QList<QStringList> rows;
    for (const int tokens : kTokens) {
        const SiteGain* gain = evidence().gain(m_site, tokens);
        if (!gain)
            continue;
        rows << QStringList{
            muted(tokens == 1 ? tr("estimate, 1 token") : tr("estimate, %n tokens", nullptr, tokens)),
            tr("%1 of %2 traffic and %3 of %4 launches less")
                .arg(qt(bytesText(double(gain->bytesSaved()))), qt(bytesText(double(gain->before.bytes))))
                .arg(gain->launchesSaved())
                .arg(gain->before.launches)};
    }
    if (const SpeedGain* gain = document().gain(m_site))
        rows << QStringList{muted(tr("share of the measured gain")), escaped(speedText(*gain))};
    if (const PlanProof* proof = document().proof(m_site))
        rows << QStringList{muted(tr("proof")),
                            coloured(escaped(proofText(*proof)),
                                     proof->passed ? themeOf(*this).added : themeOf(*this).removed)};
    if (rows.isEmpty() && site().verdict != SiteVerdict::applicable)
        return;
    Section* section = addSection(tr("Gain and proof"), "worth");
    section->add(text(table({}, rows)));
    if (!document().proof(m_site) && site().verdict == SiteVerdict::applicable)
        section->add(text(muted(tr("Not compared with the original yet: Verify does that."))));
}

void SitePage::addPattern() {
    const Pattern* pattern = findPattern(site().pattern);
    if (!pattern)
        return;
    Section* section = addSection(tr("Pattern"), "pattern");
    section->add(text("<b>" + escaped(pattern->formula) + "</b>"));
    auto* sketch = new QLabel(qt(pattern->sketch), this);
    sketch->setObjectName("sketch");
    sketch->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    sketch->setTextFormat(Qt::PlainText);
    sketch->setTextInteractionFlags(Qt::TextSelectableByMouse);
    sketch->setMinimumWidth(1); // clipped rather than making the panel wide
    section->add(sketch);
    section->add(text(escaped(pattern->explanation)));
    if (!pattern->refuses.empty())
        section->add(text(muted(tr("Refuses")) + ' ' + escaped(pattern->refuses)));
}

void SitePage::addParts() {
    QList<QStringList> rows;
    for (const auto& [name, value] : site().facts)
        rows << QStringList{muted(escaped(name)), escaped(factText(value))};
    for (const RoleNode& role : site().roles)
        rows << QStringList{muted(escaped(role.role)), nodeLink(graph(), role.node)};
    for (const DerivedParameter& derived : site().derived)
        rows << QStringList{muted(tr("merged weight")), escaped(derivedText(derived))};
    if (!site().parameters.empty())
        rows << QStringList{muted(tr("parameters")), firstOf(site().parameters, kMostNames, escaped)};
    if (!site().nodes.empty())
        rows << QStringList{muted(tr("removes")), firstOf(site().nodes, kMostNodes, [&](NodeId node) {
                                return nodeLink(graph(), node);
                            })};
    if (!rows.isEmpty())
        addText(table({}, rows), addSection(tr("What was found"), "parts"));
}

} // namespace workbench::gui
