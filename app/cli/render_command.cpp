#include "app/cli/commands.h"
#include "app/draw/export.h"
#include "app/draw/headless.h"

#include <algorithm>

namespace workbench::cli {
namespace {

/// The graph that is drawn, with what was found on it.
struct Subject {
    const Graph* graph = nullptr;
    ModuleTree tree;
    std::vector<NodeMark> marks;
};

Subject subjectOf(const Session& session, const Rewritten& rewritten, bool drawsRewritten) {
    const TracedModel& model = session.model();
    Subject subject;
    subject.graph = drawsRewritten ? &rewritten.graph : &model.canonical;
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

Status write(const Options& options, const Session& session, const Subject& subject, const Scene& scene) {
    const std::optional<Overlay> overlay =
        options.overlayWeights ? std::optional(weightBytes(*subject.graph)) : std::nullopt;
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
    if (auto writable = checkWritableFile(options.picture); !writable)
        return writable;
    auto opened = openSession(options, context);
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
    context.job.report("draw", options.scope.empty() ? "the model" : options.scope);
    LayoutEngine engine(context.locations.executables / "workbench-layout",
                        context.locations.cache / "layout");
    const auto scene = makeScene(std::move(diagram).value(), engine, context.job.cancel);
    if (!scene)
        return scene.error();
    if (auto written = write(options, session, subject, **scene); !written)
        return written;
    context.out << options.picture.string() << ": " << (*scene)->diagram.boxes.size() << " boxes, "
                << (*scene)->diagram.edges.size() << " edges\n";
    return Ok{};
}

} // namespace workbench::cli
