#include "app/cli/commands.h"
#include "app/cli/log.h"

namespace workbench::cli {
namespace {

/// Where everything comes from, for who reports a fault.
void logOrigin(const Session& session) {
    const TracedModel& model = session.model();
    std::string versions;
    for (const auto& [name, version] : model.facts.versions)
        versions += (versions.empty() ? "" : ", ") + name + " " + version;
    if (session.tracer())
        logDetail("Python: " + session.tracer()->python().string());
    logDetail("archive: " + model.archive.string() + (versions.empty() ? "" : " (" + versions + ")"));
    logDetail("fingerprint: " + model.fingerprint + ", " + std::to_string(model.canonical.nodes.size()) +
              " operations in canonical form, " + std::to_string(model.analysis.sites.size()) + " sites");
}

} // namespace

Result<std::unique_ptr<Session>> openSession(const Options& options, Context& context, bool needsWeights) {
    std::optional<FusionPlan> plan;
    if (!options.plan.empty()) {
        auto read = readPlan(options.plan);
        if (!read)
            return read.error();
        plan = std::move(read).value();
    }
    TraceOptions trace = options.trace;
    trace.needsWeights = needsWeights;
    auto opened = Session::open(options.model, trace, context.locations, context.job);
    if (!opened)
        return opened.error();
    Session& session = **opened;
    for (const std::string& warning : session.model().facts.warnings)
        logWarning(warning);
    logOrigin(session);
    if (plan)
        if (auto used = session.usePlan(*plan, options.plan.string(), context.job); !used)
            return used.error();
    if (plan && (!options.exportPlan.empty() || options.overlay == "error"))
        if (const std::string dropped = session.dropProofsOfOtherWeights(); !dropped.empty())
            logWarning(dropped);
    auto decisions = decide(session.model().analysis, session.decisions(), options.rules);
    if (!decisions)
        return decisions.error();
    session.decide(std::move(decisions).value());
    return opened;
}

} // namespace workbench::cli
