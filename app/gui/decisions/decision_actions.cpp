#include "app/gui/decisions/decisions_panel.h"
#include "app/session/site_report.h"

#include <QtCore/QScopedValueRollback>
#include <QtGui/QAction>
#include <QtGui/QClipboard>
#include <QtGui/QGuiApplication>

#include <algorithm>

/// What the decisions panel does: choosing, deciding, copying. Its looks are in decisions_panel.cpp, the
/// verification in verification.cpp.

namespace workbench::gui {

void DecisionsPanel::makeActions() {
    const auto add = [this](const QString& text, const QString& tip, const char* name,
                            const QKeySequence& keys, auto call) {
        auto* action = new QAction(text, this);
        action->setObjectName(name);
        action->setToolTip(keys.isEmpty() ? tip : tip + " (" + keys.toString(QKeySequence::NativeText) + ")");
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, call);
        return action;
    };
    m_actions.apply = add(tr("&Apply"), tr("Apply the selected sites"), "apply", Qt::CTRL | Qt::Key_Return,
                          [this] { decideSelected(Decision::apply); });
    m_actions.reject = add(tr("&Reject"), tr("Reject the selected sites; then say why in the note"), "reject",
                           Qt::Key_Delete, [this] { rejectSelected(); });
    m_actions.undecided = add(tr("Leave &undecided"), tr("Take the decision on the selected sites back"),
                              "undecided", {}, [this] { decideSelected(Decision::undecided); });
    m_actions.reveal = add(tr("&Show in the canvas"), tr("Open the place in the canvas"), "reveal", {},
                           [this] { selection().reveal(); });
    m_actions.other = add(tr("&Go to the other rewrite"),
                          tr("Choose the rewrite that takes this one's place"), "other", {}, [this] {
                              const auto site = currentSite();
                              const auto other =
                                  site ? m_model->other(static_cast<int>(*site)) : std::nullopt;
                              if (other)
                                  goTo(*other);
                          });
    m_actions.copy = add(tr("&Copy reports"), tr("Copy all that is known of the selected sites as Markdown"),
                         "copyReports", {}, [this] { copyReports(); });
    m_actions.verifyAll =
        add(tr("Verify what is applied"), tr("Compare the rewritten model with the original"), "verifyAll",
            {}, [this] { verify(false); });
    m_actions.verifySelected = add(tr("Verify the selection"),
                                   tr("Compare the selected sites with the original before they are decided"),
                                   "verifySelected", {}, [this] { verify(true); });
}

QList<QAction*> DecisionsPanel::actionsFor(Menu menu) {
    if (menu == Menu::edit)
        return {m_actions.apply, m_actions.reject, m_actions.undecided};
    if (menu == Menu::model)
        return {m_actions.verifyAll, m_actions.verifySelected};
    return {};
}

std::vector<std::size_t> DecisionsPanel::selectedSites() const {
    std::vector<std::size_t> sites;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        sites.push_back(static_cast<std::size_t>(m_filter->mapToSource(index).row()));
    std::sort(sites.begin(), sites.end());
    return sites;
}

std::optional<std::size_t> DecisionsPanel::currentSite() const {
    const std::vector<std::size_t> sites = selectedSites();
    return sites.size() == 1 ? std::optional(sites.front()) : std::nullopt;
}

void DecisionsPanel::decideSelected(Decision decision) {
    std::vector<std::size_t> sites = selectedSites();
    std::erase_if(sites, [this](std::size_t site) {
        return m_model->site(static_cast<int>(site)).verdict != SiteVerdict::applicable;
    });
    if (sites.empty())
        return;
    const QString what = sites.size() == 1
                             ? QString::fromStdString(m_model->site(static_cast<int>(sites.front())).id)
                             : tr("%n sites", nullptr, static_cast<int>(sites.size()));
    const QString verb = decision == Decision::apply    ? tr("apply %1")
                         : decision == Decision::reject ? tr("reject %1")
                                                        : tr("take back %1");
    document().apply(sites, decision, verb.arg(what));
}

void DecisionsPanel::rejectSelected() {
    decideSelected(Decision::reject);
    if (currentSite())
        m_note->setFocus();
}

void DecisionsPanel::goTo(std::size_t site) {
    selection().selectSite(site, m_model->site(static_cast<int>(site)).module);
}

void DecisionsPanel::followOther(const QModelIndex& index) {
    if (index.column() != SitesModel::kReason || QGuiApplication::keyboardModifiers() != Qt::NoModifier)
        return;
    if (const auto other = m_model->other(m_filter->mapToSource(index).row()))
        goTo(*other);
}

void DecisionsPanel::selectionMoved() {
    if (!m_following)
        if (const auto site = currentSite())
            goTo(*site);
    showNote();
    updateActions();
}

void DecisionsPanel::showSelection() {
    const QScopedValueRollback following(m_following, true);
    const auto& site = selection().site();
    if (!site) {
        m_table->clearSelection();
        return;
    }
    const std::vector<std::size_t> shown = selectedSites();
    if (std::find(shown.begin(), shown.end(), *site) != shown.end())
        return;
    const QModelIndex index =
        m_filter->mapFromSource(m_model->index(static_cast<int>(*site), SitesModel::kPattern));
    if (!index.isValid()) {
        m_table->clearSelection();
        return;
    }
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index, QAbstractItemView::EnsureVisible);
}

void DecisionsPanel::showNote() {
    const auto site = currentSite();
    m_note->setEnabled(site.has_value());
    const QString note = site ? document().note(*site) : QString();
    if (m_note->text() != note && !m_note->hasFocus())
        m_note->setText(note);
}

void DecisionsPanel::updateActions() {
    const std::vector<std::size_t> sites = selectedSites();
    const bool decidable = std::any_of(sites.begin(), sites.end(), [this](std::size_t site) {
        return m_model->site(static_cast<int>(site)).verdict == SiteVerdict::applicable;
    });
    for (QAction* action : {m_actions.apply, m_actions.reject, m_actions.undecided})
        action->setEnabled(decidable);
    const auto site = currentSite();
    m_actions.reveal->setEnabled(site.has_value());
    m_actions.other->setEnabled(site && m_model->other(static_cast<int>(*site)));
    m_actions.copy->setEnabled(!sites.empty());
    m_actions.verifySelected->setEnabled(decidable && !document().busy());
}

void DecisionsPanel::estimate() {
    m_estimation.cancel();
    const int tokens = m_tokens->currentData().toInt();
    using Gains = std::vector<std::optional<SiteGain>>;
    m_estimation = document().look<Gains>(
        this,
        [tokens](Session& session, const Job&) -> Result<Gains> {
            return estimateGains(session.model().canonical, session.model().analysis, tokens);
        },
        [this, tokens](Result<Gains> gains) {
            if (gains && m_tokens->currentData().toInt() == tokens)
                m_model->setEstimates(std::move(gains).value(), tokens);
        });
}

void DecisionsPanel::copyReports() {
    // What the session does not know: it is asked for the rest in the thread.
    struct Extra {
        std::optional<SiteGain> estimated;
        std::optional<SpeedGain> measured;
    };
    const std::vector<std::size_t> sites = selectedSites();
    std::vector<Extra> extras(sites.size());
    for (std::size_t i = 0; i < sites.size(); ++i) {
        if (const SiteGain* gain = m_model->estimate(static_cast<int>(sites[i])))
            extras[i].estimated = *gain;
        if (const SpeedGain* gain = document().gain(sites[i]))
            extras[i].measured = *gain;
    }
    document().look<std::string>(
        this,
        [sites, extras, tokens = m_model->tokens()](Session& session, const Job& job) -> Result<std::string> {
            auto rewritten = session.rewritten();
            if (!rewritten)
                return rewritten.error();
            std::string text;
            for (std::size_t i = 0; i < sites.size(); ++i) {
                if (job.cancelled())
                    return cancelledError();
                SiteEvidence evidence = evidenceOf(session, **rewritten, sites[i]);
                evidence.estimated = extras[i].estimated;
                evidence.measured = extras[i].measured;
                evidence.tokens = tokens;
                text += (i ? "\n" : "") + siteReport(session, sites[i], evidence);
            }
            return text;
        },
        [this, count = sites.size()](Result<std::string> text) {
            if (!text)
                return tell(QString::fromStdString(text.error().message), false);
            QGuiApplication::clipboard()->setText(QString::fromStdString(*text));
            tell(tr("The report of %n sites is on the clipboard.", nullptr, static_cast<int>(count)), true);
        });
}

} // namespace workbench::gui
