#include "app/gui/window/model_tab.h"
#include "app/gui/window/plan_actions.h"
#include "app/session/inspect_json.h"
#include "app/session/pt2_export.h"
#include "app/session/source_export.h"
#include "app/session/verify.h"
#include "core/support/atomic_file.h"

#include <QtWidgets/QFileDialog>

#include <nlohmann/json.hpp>

/// What leaves the window beside the plan: each is a job with progress and cancel.

namespace workbench::gui {
namespace {

using Exporter = std::function<Result<QString>(Session&, Runtime&, const Job&)>;

Result<QString> exportSources(Session& session, const QString& folder, const Job& job) {
    auto report = exportSource(session, folder.toStdString(), job);
    if (!report)
        return report.error();
    QString text =
        PlanActions::tr("Wrote %1 rewritten classes into %2; %3 of %4 applied sites have a source form.")
            .arg(report->classes)
            .arg(folder)
            .arg(report->sitesWithForm)
            .arg(report->sites);
    for (const auto& [reason, count] : report->reasons)
        text += PlanActions::tr(" %1 without: %2.").arg(count).arg(QString::fromStdString(reason));
    return text;
}

Result<QString> exportInspection(Session& session, const QString& file) {
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    const std::string text = inspectJson(session, **rewritten)
                                 .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (auto written = writeFileAtomically(file.toStdString(), text + "\n"); !written)
        return written.error();
    return PlanActions::tr("Wrote the inspection %1.").arg(file);
}

Result<QString> exportArchive(Session& session, const QString& file, const Job& job) {
    if (auto written = exportPt2(session, file.toStdString(), job); !written)
        return written.error();
    return PlanActions::tr("Wrote the rewritten program %1.").arg(file);
}

Result<QString> exportLogits(Session& session, Runtime& runtime, const QString& file, const Job& job) {
    VerifyRequest request;
    request.dumpLogits = file.toStdString();
    auto report = verifySession(session, runtime, request, job);
    if (!report)
        return report.error();
    return PlanActions::tr("Wrote the logits of both programs %1; the comparison %2.")
        .arg(file, report->passed ? PlanActions::tr("passed") : PlanActions::tr("failed"));
}

Exporter exporterOf(PlanActions::Format format, const QString& target) {
    switch (format) {
    case PlanActions::Format::source:
        return [target](Session& session, Runtime&, const Job& job) {
            return exportSources(session, target, job);
        };
    case PlanActions::Format::archive:
        return [target](Session& session, Runtime&, const Job& job) {
            return exportArchive(session, target, job);
        };
    case PlanActions::Format::inspection:
        return [target](Session& session, Runtime&, const Job&) { return exportInspection(session, target); };
    case PlanActions::Format::logits:
        return [target](Session& session, Runtime& runtime, const Job& job) {
            return exportLogits(session, runtime, target, job);
        };
    }
    return {};
}

struct Naming {
    QString title, filter, ending;
};

Naming namingOf(PlanActions::Format format) {
    switch (format) {
    case PlanActions::Format::source:
        return {PlanActions::tr("Folder for the rewritten source"), {}, {}};
    case PlanActions::Format::archive:
        return {PlanActions::tr("Export the rewritten program"),
                PlanActions::tr("torch.export archives (*.pt2)"), ".pt2"};
    case PlanActions::Format::inspection:
        return {PlanActions::tr("Export the inspection"), PlanActions::tr("JSON (*.json)"),
                "-inspection.json"};
    case PlanActions::Format::logits:
        return {PlanActions::tr("Export the logits of both programs"),
                PlanActions::tr("safetensors (*.safetensors)"), "-logits.safetensors"};
    }
    return {};
}

} // namespace

void PlanActions::chooseAndExport(ModelTab* tab, Format format) {
    const Naming naming = namingOf(format);
    const QString target =
        format == Format::source
            ? QFileDialog::getExistingDirectory(&m_window, naming.title)
            : QFileDialog::getSaveFileName(&m_window, naming.title, tab->document().title() + naming.ending,
                                           naming.filter);
    if (!target.isEmpty())
        exportTo(tab, format, target);
}

void PlanActions::exportTo(ModelTab* tab, Format format, const QString& target) {
    const auto told = [this, tab = Tab(tab)](const Result<QString>& done) {
        if (!done)
            tellProblem(tab, done.error());
        else if (tab)
            tab->notices().tell(NoticeBar::Kind::note, *done);
    };
    const JobHandle started =
        tab->document().run<QString>(tab, namingOf(format).title, exporterOf(format, target), told);
    if (!started.valid())
        tab->notices().tell(
            NoticeBar::Kind::warning,
            tr("%1 still runs: wait for it, or stop it first.").arg(tab->document().jobTitle()));
}

} // namespace workbench::gui
