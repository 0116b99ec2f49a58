#include "app/cli/commands.h"
#include "app/draw/export.h"
#include "app/draw/headless.h"
#include "app/session/site_gains.h"

#include <algorithm>
#include <map>

namespace workbench::cli {
namespace {

/// The graph that is drawn, with what was found on it.
struct Subject {
    const Graph* graph = nullptr;
    ModuleTree tree;
    std::vector<NodeMark> marks;
    const Rewritten* rewritten = nullptr; ///< of the graph after the rewrites
};

Subject subjectOf(const Session& session, const Rewritten& rewritten, bool drawsRewritten) {
    const TracedModel& model = session.model();
    Subject subject;
    subject.graph = drawsRewritten ? &rewritten.graph : &model.canonical;
    subject.rewritten = drawsRewritten ? &rewritten : nullptr;
    subject.tree = buildModuleTree(*subject.graph);
    subject.marks = drawsRewritten ? markRewritten(rewritten, model.analysis)
                                   : markCanonical(model.canonical, model.analysis, rewritten.outcomes);
    return subject;
}

Error unknownModule(const std::string& option, const std::string& path, const Graph& graph) {
    std::string known;
    for (const std::string& part : breadcrumbs(graph, path))
        if (std::any_of(graph.modules.begin(), graph.modules.end(),
                        [&](const ModuleInfo& module) { return module.path == part; }))
            known = part;
    return {ErrorCode::usage,
            option + " " + path + " names no module that runs" +
                (known.empty() ? std::string() : "; the nearest is " + known) +
                ": `workbench inspect MODEL` lists them",
            path};
}

/// What a first look shows, and what --expand opens beyond it.
Result<Diagram> diagramOf(const Options& options, const Subject& subject) {
    DiagramRequest request = initialRequest(*subject.graph, subject.tree, options.scope);
    for (const std::string& path : options.expand) {
        if (path != "*")
            request = revealModule(*subject.graph, subject.tree, std::move(request), path);
        request.expanded.insert(path);
    }
    request.scope = options.scope;
    Diagram diagram = buildDiagram(*subject.graph, subject.tree, request);
    if (diagram.boxes.empty())
        return unknownModule("--scope", options.scope, *subject.graph);
    for (const std::string& path : options.expand)
        if (path != "*" && std::none_of(diagram.boxes.begin(), diagram.boxes.end(), [&](const Box& box) {
                return box.expanded && box.key == "m:" + path;
            }))
            return unknownModule("--expand", path, *subject.graph);
    return diagram;
}

std::string titleOf(const Options& options, const ModelFacts& facts) {
    const std::string model = facts.className.empty() ? options.model : facts.className;
    return model + (options.scope.empty() ? "" : " · " + options.scope) +
           (options.drawRewritten ? " · rewritten" : "");
}

Result<Overlay> ofSites(std::string name, std::string unit, Overlay::Total total, const Subject& subject,
                        const Session& session, const std::map<std::size_t, double>& numbers,
                        const std::string& missing) {
    if (numbers.empty())
        return Error{ErrorCode::badInput, missing, {}};
    return siteNumbers(std::move(name), std::move(unit), total, *subject.graph, session.model().analysis,
                       numbers, subject.rewritten);
}

Result<Overlay> errorOverlay(const Subject& subject, const Session& session, const std::string& plan) {
    std::map<std::size_t, double> numbers;
    const std::vector<Site>& sites = session.model().analysis.sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (const PlanProof* proof = session.proof(sites[i].id))
            numbers[i] = proof->relativeError;
    return ofSites("error of the rewrite", "", Overlay::Total::max, subject, session, numbers,
                   plan + " has no proofs: `workbench verify` and --export write them");
}

Result<Overlay> gainOverlay(const Subject& subject, const Session& session, const Rewritten& rewritten,
                            const std::filesystem::path& file) {
    const auto report = readBench(file);
    if (!report)
        return report.error();
    std::map<std::size_t, double> numbers;
    for (const auto& [site, gain] : siteGains(*report, session.model().analysis, rewritten.outcomes))
        numbers[site] = gain.percent;
    return ofSites("measured gain", "%", Overlay::Total::sum, subject, session, numbers,
                   file.string() +
                       " says nothing of the patterns that are applied: measure with --leave-one-out, "
                       "and give the same decisions here");
}

/// Of the model as it is, or as it is after the rewrites where these are drawn.
Result<Overlay> timeOverlay(const Subject& subject, const Session& session,
                            const std::filesystem::path& file) {
    const auto report = readBench(file);
    if (!report)
        return report.error();
    if (!report->nodeTimes)
        return Error{ErrorCode::badInput,
                     file.string() + " says nothing of the time of nodes: `workbench bench --json` writes it",
                     file.string()};
    const TracedModel& model = session.model();
    if (report->nodeTimes->fingerprint != model.fingerprint)
        return Error{ErrorCode::badInput,
                     file.string() + " was measured on another graph (" + report->model +
                         "): measure this model with this version",
                     file.string()};
    const NodeTimes& times = *report->nodeTimes;
    if (subject.rewritten && times.rewritten != fingerprintOf(*subject.graph))
        return Error{ErrorCode::badInput,
                     file.string() + " was measured with other decisions: give the same ones here",
                     file.string()};
    return nodeNumbers(subject.rewritten ? "measured time after" : "measured time before", "ms",
                       Overlay::Total::sum, *subject.graph,
                       subject.rewritten ? timesIn(*subject.graph, model.canonical, times.after)
                                         : times.before);
}

/// Nothing when none was asked for.
Result<std::optional<Overlay>> overlayOf(const Options& options, const Session& session,
                                         const Rewritten& rewritten, const Subject& subject) {
    if (options.overlay.empty())
        return std::optional<Overlay>();
    if (options.overlay == "weights")
        return std::optional(weightBytes(*subject.graph));
    auto overlay = options.overlay == "error" ? errorOverlay(subject, session, options.plan.string())
                   : options.overlay == "time"
                       ? timeOverlay(subject, session, options.measurement)
                       : gainOverlay(subject, session, rewritten, options.measurement);
    if (!overlay)
        return overlay.error();
    return std::optional(std::move(overlay).value());
}

Status write(const Options& options, const Session& session, const Subject& subject,
             const std::optional<Overlay>& overlay, const Scene& scene) {
    const SceneColours colours = coloursOf(scene.diagram, &subject.marks, overlay ? &*overlay : nullptr);
    PaintOptions paint;
    paint.theme = options.dark ? &Theme::darkOne() : &Theme::light();
    paint.colours = &colours;
    ExportOptions exported;
    exported.title = QString::fromStdString(titleOf(options, session.model().facts));
    exported.legend.entries = legendOf(scene.diagram, subject.marks);
    if (overlay) {
        exported.legend.overlay = QString::fromStdString(overlay->name);
        exported.legend.overlayEnd =
            QString::fromStdString(overlayText(*overlay, largestTotal(*overlay, scene.diagram)));
    }
    return exportPicture(options.picture, scene, paint, exported);
}

} // namespace

Status runRender(const Options& options, Context& context) {
    startHeadlessDrawing();
    if (auto writable = checkWritableFile(options.picture, options.model); !writable)
        return writable;
    auto opened = openSession(options, context, false);
    if (!opened)
        return opened.error();
    Session& session = **opened;
    const auto rewritten = session.rewritten();
    if (!rewritten)
        return rewritten.error();
    const Subject subject = subjectOf(session, **rewritten, options.drawRewritten);
    auto diagram = diagramOf(options, subject);
    if (!diagram)
        return diagram.error();
    auto overlay = overlayOf(options, session, **rewritten, subject);
    if (!overlay)
        return overlay.error();
    context.job.report("draw", options.scope.empty() ? "the model" : options.scope);
    LayoutEngine engine(context.locations.executables / "workbench-layout",
                        context.locations.cache / "layout");
    const auto scene = makeScene(std::move(diagram).value(), engine, context.job.cancel);
    if (!scene)
        return scene.error();
    if (auto written = write(options, session, subject, *overlay, **scene); !written)
        return written;
    context.out << options.picture.string() << ": " << (*scene)->diagram.boxes.size() << " boxes, "
                << (*scene)->diagram.edges.size() << " edges\n";
    return Ok{};
}

} // namespace workbench::cli
