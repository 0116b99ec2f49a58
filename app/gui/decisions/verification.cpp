#include "app/draw/theme.h"
#include "app/gui/decisions/decisions_panel.h"
#include "app/session/verify.h"

#include <QtCore/QLocale>
#include <QtGui/QAction>

#include <algorithm>

/// The equality check of the decisions panel.

namespace workbench::gui {
namespace {

/// Proofs of sites that are not decided yet: they alone are applied, in the job's own session.
Decisions applyOnly(const Analysis& analysis, const std::vector<std::size_t>& sites) {
    Decisions decisions;
    for (const std::size_t site : sites)
        if (analysis.sites[site].verdict == SiteVerdict::applicable)
            decisions[analysis.sites[site].id] = Decision::apply;
    return decisions;
}

/// What weights in fewer bits cost: no part of the proof. Empty for weights as stored.
QString lossText(const VerifyReport& report) {
    if (report.weights == kStoredWeights)
        return {};
    const QString format = QString::fromStdString(report.weights);
    const QString unkept = ' ' + DecisionsPanel::tr("The plan keeps no proof on such weights.");
    if (!report.loss)
        return DecisionsPanel::tr("Weights in %1 against those as stored: not known, %2.")
                   .arg(format, QString::fromStdString(report.lossReason)) +
               unkept;
    const QLocale locale;
    const QString text =
        DecisionsPanel::tr(
            "Weights in %1 against those as stored: logits %2 % apart, %3 of %4 greedy tokens equal")
            .arg(format, locale.toString(100 * report.loss->relativeError, 'g', 2),
                 locale.toString(static_cast<qlonglong>(report.loss->greedyEqual)),
                 locale.toString(static_cast<qlonglong>(report.loss->rows)));
    return text + '.' + unkept;
}

} // namespace

/// Decisions of a moment ago count.
void DecisionsPanel::verify(bool selectedOnly) {
    document().whenRewritten(this, [this, selectedOnly] { verifyNow(selectedOnly); });
}

void DecisionsPanel::verifyNow(bool selectedOnly) {
    const std::vector<std::size_t> sites = selectedSites();
    const Decisions only = selectedOnly ? applyOnly(document().analysis(), sites) : Decisions();
    const auto& outcomes = document().rewritten()->outcomes;
    const std::size_t asked =
        selectedOnly ? only.size()
                     : static_cast<std::size_t>(
                           std::count_if(outcomes.begin(), outcomes.end(), [](const SiteOutcome& outcome) {
                               return outcome.state == SiteOutcome::State::applied;
                           }));
    if (asked == 0)
        return tell(tr("Nothing is applied yet: check some sites, or select some and verify the selection."),
                    false);
    m_verification = document().run<VerifyReport>(
        this, tr("Verify %n sites", nullptr, static_cast<int>(asked)),
        [only](Session& session, Runtime& runtime, const Job& job) {
            if (!only.empty())
                session.decide(only);
            return verifySession(session, runtime, {}, job);
        },
        [this, asked](Result<VerifyReport> report) {
            m_verifying = false;
            tellResult(report, asked);
            updateVerify();
        });
    if (!m_verification.valid())
        return tell(tr("Another job runs: wait for it or stop it, then verify."), false);
    m_verifying = true;
    tell(tr("Verifying %n sites: the original and the rewritten model run on the same tokens.", nullptr,
            static_cast<int>(asked)),
         true);
    updateVerify();
}

void DecisionsPanel::tellResult(const Result<VerifyReport>& report, std::size_t asked) {
    if (!report) {
        const bool stopped = report.error().code == ErrorCode::cancelled;
        return tell(stopped ? tr("The verification was stopped.")
                            : QString::fromStdString(report.error().message),
                    stopped);
    }
    const auto passed = std::count_if(report->sites.begin(), report->sites.end(),
                                      [](const SiteProof& site) { return site.proof.passed; });
    QString text =
        tr("%1 of %2 sites reproduce the original, %3; logits: relative error %4, tolerance %5.")
            .arg(passed)
            .arg(asked)
            .arg(report->kind == "weights" ? tr("on the model's own weights") : tr("on random weights"))
            .arg(report->endToEnd.relativeError, 0, 'e', 1)
            .arg(report->endToEnd.tolerance, 0, 'e', 1);
    if (report->engine && !report->engine->passed)
        text += ' ' + tr("As the engine runs it, in chunks, their error is %1.")
                          .arg(report->engine->relativeError, 0, 'e', 1);
    if (report->greedy.differences == 0)
        text += ' ' + tr("Greedy text is the same over %n tokens.", nullptr,
                         static_cast<int>(report->greedy.tokens));
    else
        text += ' ' + tr("Greedy text differs after %n tokens.", nullptr,
                         static_cast<int>(report->greedy.tokens - 1));
    if (!report->unproven.empty())
        text +=
            ' ' + tr("%n sites could not be compared.", nullptr, static_cast<int>(report->unproven.size()));
    if (const QString loss = lossText(*report); !loss.isEmpty())
        text += ' ' + loss;
    tell(text, report->passed);
}

void DecisionsPanel::tell(const QString& text, bool good) {
    const bool dark = palette().color(QPalette::Window).lightness() < 128;
    const Theme& theme = dark ? Theme::darkOne() : Theme::light();
    QPalette colours = palette();
    if (!good)
        colours.setColor(QPalette::WindowText, theme.removed);
    m_result->setPalette(colours);
    m_result->setText(text);
    m_result->setVisible(!text.isEmpty());
}

void DecisionsPanel::updateVerify() {
    m_verify->disconnect(this);
    m_verify->setText(m_verifying ? tr("&Stop") : tr("Verif&y"));
    m_verify->setEnabled(m_verifying || !document().busy());
    m_verify->setToolTip(m_verifying ? tr("Stop the verification")
                                     : tr("Compare the rewritten model with the original, site by site"));
    m_verify->setAccessibleName(m_verify->toolTip());
    connect(m_verify, &QToolButton::clicked, this, [this] {
        if (m_verifying)
            m_verification.cancel();
        else
            verify(false);
    });
    m_actions.verifyAll->setEnabled(!document().busy());
    updateActions();
}

} // namespace workbench::gui
