#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/cli/report.h"
#include "app/session/pt2_export.h"
#include "app/session/source_export.h"

namespace workbench::cli {
namespace {

Status checkOutputs(const Options& options) {
    if (options.dryRun)
        return Ok{};
    if (auto ok = checkWritableFile(options.exportPlan, options.model); !ok)
        return ok;
    if (auto ok = checkWritableFile(options.exportPt2, options.model); !ok)
        return ok;
    return checkWritableFolder(options.exportSource, options.model);
}

void say(Context& context, bool dryRun, const char* what, const std::filesystem::path& path) {
    context.out << (dryRun ? "would write " : "wrote ") << what << ' ' << path.string() << '\n';
}

Status writePlanFile(const Options& options, Context& context, Session& session) {
    if (options.exportPlan.empty())
        return Ok{};
    auto plan = session.plan();
    if (!plan)
        return plan.error();
    if (!options.dryRun)
        if (auto written = writePlan(*plan, options.exportPlan); !written)
            return written;
    say(context, options.dryRun, "plan", options.exportPlan);
    return Ok{};
}

Status writeSourceFolder(const Options& options, Context& context, Session& session) {
    if (options.exportSource.empty())
        return Ok{};
    if (options.dryRun) {
        say(context, true, "source", options.exportSource);
        return Ok{};
    }
    auto exported = exportSource(session, options.exportSource, context.job);
    if (!exported)
        return exported.error();
    say(context, false, "source", options.exportSource);
    context.out << "  " << exported->classes << " rewritten classes; " << exported->sitesWithForm << " of "
                << exported->sites << " applied sites have a source form\n";
    for (const auto& [reason, count] : exported->reasons)
        context.out << "  " << count << " without: " << reason << '\n';
    return Ok{};
}

Status writeArchive(const Options& options, Context& context, Session& session) {
    if (options.exportPt2.empty())
        return Ok{};
    if (!options.dryRun)
        if (auto written = exportPt2(session, options.exportPt2, context.job); !written)
            return written;
    say(context, options.dryRun, "archive", options.exportPt2);
    return Ok{};
}

} // namespace

Status runPlan(const Options& options, Context& context) {
    if (auto writable = checkOutputs(options); !writable)
        return writable;
    auto opened = openSession(options, context, !options.exportPt2.empty());
    if (!opened)
        return opened.error();
    Session& session = **opened;
    auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    context.out << modelLine(session.model().facts) << "\n\n";
    printCoverage(context.out, session, **rewritten);
    context.out << std::flush;
    const bool decided = !options.rules.empty() || !options.plan.empty();
    if (auto met = checkRequirements(options.requirements, session, **rewritten, decided); !met)
        return met;
    if (context.job.cancelled())
        return cancelledError();
    if (auto written = writePlanFile(options, context, session); !written)
        return written;
    if (auto written = writeSourceFolder(options, context, session); !written)
        return written;
    return writeArchive(options, context, session);
}

} // namespace workbench::cli
