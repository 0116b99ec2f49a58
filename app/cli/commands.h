#pragma once

#include "app/cli/options.h"
#include "app/session/session.h"

#include <memory>
#include <ostream>

namespace workbench::cli {

/// What every command gets: where to print and how it is cancelled.
struct Context {
    std::ostream& out;
    Job job;
    Locations locations;
};

/// Each command prints its result; an Error becomes the sentence on stderr and the exit code.
Status runPlan(const Options& options, Context& context);
Status runInspect(const Options& options, Context& context);
Status runPatterns(const Options& options, Context& context);
Status runVerify(const Options& options, Context& context);
Status runGenerate(const Options& options, Context& context);
/// Until SIGTERM or SIGINT; what runs then comes to its end.
Status runServe(const Options& options, Context& context);
Status runBench(const Options& options, Context& context);
Status runBisect(const Options& options, Context& context);
Status runRender(const Options& options, Context& context);
Status runPlanDiff(const Options& options, Context& context);
Status runSetup(const Options& options, Context& context);
Status runWindow(const Options& options, Context& context); ///< does not come back when all goes well

/// A window could be shown.
bool hasDisplay();
/// `workbench` and `workbench MODEL` open the window: somebody sits at a terminal of a desktop, and it is
/// built. A script or a pipe gets the report, wherever it runs.
bool opensWindow(const Locations& locations);

/// Opens MODEL, then takes --plan and the decision options in order. Warnings of the trace go to the log.
/// `needsWeights`: a model that is downloaded is with its weights.
Result<std::unique_ptr<Session>> openSession(const Options& options, Context& context,
                                             bool needsWeights = true);

/// Whether a file could be written under that name: asked before long work. An empty path is fine. A file
/// that belongs to the model is never written over.
Status checkWritableFile(const std::filesystem::path& file, const std::string& model);
/// The same for a folder that may not exist yet.
Status checkWritableFolder(const std::filesystem::path& folder, const std::string& model);

/// requirementFailed names the pattern, what was asked for and what there is.
Status checkRequirements(const std::vector<Requirement>& requirements, const Session& session,
                         const Rewritten& rewritten, bool decided);

} // namespace workbench::cli
