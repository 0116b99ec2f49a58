#include "app/diagram/search.h"
#include "app/draw/export.h"
#include "core/archive/pt2_reader.h"
#include "core/archive/trace_reader.h"
#include "fusion/fusion.h"

#include <QGuiApplication>
#include <QImage>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

/// Times what the window does with a traced model, on the wall clock (painting and search on the core's) and
/// with nothing cached: `diagram_bench LAYOUT_HELPER TRACE_DIR|FILE.pt2... [--pictures FOLDER]`. The exit
/// code is 1 when a limit is passed.

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRuns = 9;
constexpr QSize kWindow(1280, 800);
constexpr QSize kLargeWindow(2560, 1440);

/// Time that this thread has had a core, for what has no other part: what other processes do does not count.
struct OwnClock {
    static double milliseconds() {
        timespec at{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
        return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
    }
};

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

bool report(const char* what, const std::vector<double>& times, double share, double limit) {
    const double time = quantile(times, share);
    std::printf("  %-46s %8.2f ms %s, least %.2f ms, limit %.0f ms\n", what, time,
                share == 0.5 ? "median" : "p95", quantile(times, 0), limit);
    return time <= limit;
}

struct Model {
    Graph canonical;
    ModuleTree tree;
    Analysis analysis;
    std::vector<NodeMark> marks;
};

Model modelOf(const Graph& traced) {
    Model model;
    model.canonical = canonicalize(traced).value();
    model.tree = buildModuleTree(model.canonical);
    model.analysis = analyze(model.canonical);
    Decisions decisions;
    for (const Site& site : model.analysis.sites)
        decisions.emplace(site.id, Decision::apply);
    model.marks = markCanonical(model.canonical, model.analysis,
                                rewrite(model.canonical, model.analysis, decisions).value().outcomes);
    return model;
}

/// Of a folder that the tracer wrote, or of any torch.export archive.
Result<Graph> graphOf(const std::filesystem::path& path) {
    if (path.extension() == ".pt2") {
        Result<Pt2Archive> archive = readPt2(path);
        return archive ? Result<Graph>(std::move(archive->graph)) : Result<Graph>(archive.error());
    }
    Result<Trace> trace = readTrace(path);
    return trace ? Result<Graph>(std::move(trace->graph)) : Result<Graph>(trace.error());
}

/// The whole way to a picture that fits into a window.
std::shared_ptr<const Scene> draw(const Model& model, const DiagramRequest* request, const std::string& scope,
                                  const std::string& helper, double& time) {
    LayoutEngine engine(helper, {});
    engine.warmUp();
    const LayoutGraph small{{{10, 10}}, {}};
    (void)engine.layOut(small, {}, nullptr); // the helper has started
    const auto start = Clock::now();
    const ModuleTree tree = scope.empty() ? buildModuleTree(model.canonical) : ModuleTree();
    const ModuleTree& known = scope.empty() ? tree : model.tree; // it is there once a model is open
    Diagram diagram = buildDiagram(model.canonical, known,
                                   request ? *request : initialRequest(model.canonical, known, scope));
    auto scene = makeScene(std::move(diagram), engine, nullptr);
    if (!scene) {
        std::fprintf(stderr, "%s\n", scene.error().message.c_str());
        return nullptr;
    }
    const SceneColours colours = coloursOf((*scene)->diagram, &model.marks, nullptr);
    QImage image(kWindow, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    PaintOptions paint;
    paint.colours = &colours;
    paint.scale = std::min(
        {1.0, kWindow.width() / (*scene)->bounds.width(), kWindow.height() / (*scene)->bounds.height()});
    painter.scale(paint.scale, paint.scale);
    paintDiagram(painter, **scene, paint);
    time = since(start);
    return *scene;
}

bool measureDrawing(const Model& model, const std::string& scope, const std::string& helper, const char* what,
                    double limit) {
    std::vector<double> times;
    for (int i = 0; i < kRuns; ++i) {
        double time = 0;
        if (!draw(model, nullptr, scope, helper, time))
            return false;
        times.push_back(time);
    }
    return report(what, times, 0.5, limit);
}

std::string firstLayer(const Graph& graph) {
    for (const ModuleInfo& module : graph.modules)
        if (module.path.ends_with(".0") && !module.className.empty())
            return module.path;
    return {};
}

std::int64_t itemsIn(const Scene& scene, const QRectF& view) {
    const auto counts = [&](const QRectF& rect) {
        return rect.left() <= view.right() && rect.right() >= view.left() && rect.top() <= view.bottom() &&
               rect.bottom() >= view.top();
    };
    return std::count_if(scene.boxes.begin(), scene.boxes.end(), counts) +
           std::count_if(scene.edgeBounds.begin(), scene.edgeBounds.end(), counts);
}

/// Frames of a pan over a part of the scene that has some 2,000 items.
bool measureFrames(const Model& model, const Scene& scene, QSize window) {
    double scale = 1;
    const auto viewAt = [&](double share) {
        const QSizeF size = QSizeF(window) / scale;
        return QRectF(QPointF(scene.bounds.center().x() - size.width() / 2,
                              (scene.bounds.height() - size.height()) * share),
                      size);
    };
    while (scale > 0.02 && itemsIn(scene, viewAt(0.5)) < 2000)
        scale *= 0.95;
    const SceneColours colours = coloursOf(scene.diagram, &model.marks, nullptr);
    QImage image(window, QImage::Format_ARGB32_Premultiplied);
    PaintOptions paint;
    paint.colours = &colours;
    paint.scale = scale;
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
        paint.visible = viewAt(0.3 + 0.004 * i);
        const double start = OwnClock::milliseconds();
        QPainter painter(&image);
        painter.scale(scale, scale);
        painter.translate(-paint.visible.topLeft());
        paintDiagram(painter, scene, paint);
        painter.end();
        times.push_back(OwnClock::milliseconds() - start);
    }
    char what[96];
    std::snprintf(what, sizeof what, "frame of %lld items, scale %.2f, %dx%d",
                  static_cast<long long>(itemsIn(scene, viewAt(0.5))), scale, window.width(),
                  window.height());
    return report(what, times, 0.95, 16);
}

bool measureSearch(const Model& model) {
    const double start = OwnClock::milliseconds();
    const SearchIndex index(model.canonical, &model.analysis);
    std::printf("  %-46s %8.2f ms\n", "search index", OwnClock::milliseconds() - start);
    // As many searches as 10,000 nodes need.
    const double nodes = static_cast<double>(model.canonical.nodes.size());
    const int repeats = static_cast<int>(std::ceil(10'000 / nodes));
    std::vector<double> times;
    for (const char* query : {"linear", "mlp 576", "bf16[1,t", "qkv", "e", "nothing of that name"})
        for (int run = 0; run < kRuns; ++run) {
            const double begin = OwnClock::milliseconds();
            for (int i = 0; i < repeats; ++i)
                (void)index.find(query, 200);
            times.push_back(OwnClock::milliseconds() - begin);
        }
    return report("search over 10,000 nodes", times, 0.95, 50);
}

void save(const std::filesystem::path& folder, const std::string& name, const Scene& scene,
          const Model& model) {
    if (folder.empty())
        return;
    for (const Theme* theme : {&Theme::light(), &Theme::darkOne()}) {
        const SceneColours colours = coloursOf(scene.diagram, &model.marks, nullptr);
        PaintOptions paint;
        paint.theme = theme;
        paint.colours = &colours;
        ExportOptions options;
        options.title = QString::fromStdString(name);
        options.legend.entries = legendOf(scene.diagram, model.marks);
        options.pixelRatio = 1.5;
        const Status saved =
            exportPicture(folder / (name + (theme->dark ? "-dark" : "") + ".png"), scene, paint, options);
        if (!saved)
            std::fprintf(stderr, "%s\n", saved.error().message.c_str());
    }
}

bool measure(const std::string& folder, const std::string& helper, const std::filesystem::path& pictures) {
    const auto begin = Clock::now();
    const Result<Graph> graph = graphOf(folder);
    if (!graph) {
        std::fprintf(stderr, "%s\n", graph.error().message.c_str());
        return false;
    }
    const Model model = modelOf(*graph);
    const double opening = since(begin);
    std::printf("%s: %zu nodes\n", folder.c_str(), model.canonical.nodes.size());
    std::printf("  %-46s %8.2f ms\n", "reading and finding", opening);
    const std::string layer = firstLayer(model.canonical);
    const bool isLarge = model.canonical.nodes.size() > 3000;
    bool good = measureDrawing(model, "", helper, "first drawing", isLarge ? 1000 : 300);
    good = measureDrawing(model, layer, helper, "opening a layer", 100) && good;
    good = measureSearch(model) && good;
    DiagramRequest all;
    all.expanded = {"*"};
    double time = 0;
    const auto scene = draw(model, &all, "", helper, time);
    if (!scene)
        return false;
    std::printf("  %-46s %8.2f ms (%zu boxes, %zu edges)\n", "everything opened", time, scene->boxes.size(),
                scene->edges.size());
    good = measureFrames(model, *scene, kWindow) && good;
    good = measureFrames(model, *scene, kLargeWindow) && good;
    const std::string name = std::filesystem::path(folder).filename().string().substr(0, 12);
    save(pictures, name + "-model", *draw(model, nullptr, "", helper, time), model);
    save(pictures, name + "-layer", *draw(model, nullptr, layer, helper, time), model);
    DiagramRequest open{layer, {"*"}};
    save(pictures, name + "-layer-opened", *draw(model, &open, layer, helper, time), model);
    return good;
}

} // namespace
} // namespace workbench

int main(int count, char** arguments) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QGuiApplication application(count, arguments);
    std::vector<std::string> words(arguments + 1, arguments + count);
    std::filesystem::path pictures;
    if (words.size() > 2 && words[words.size() - 2] == "--pictures") {
        pictures = words.back();
        words.resize(words.size() - 2);
    }
    if (words.size() < 2) {
        std::fprintf(stderr,
                     "usage: diagram_bench LAYOUT_HELPER TRACE_DIR|FILE.pt2... [--pictures FOLDER]\n");
        return 2;
    }
    bool good = true;
    for (std::size_t i = 1; i < words.size(); ++i)
        good = workbench::measure(words[i], words[0], pictures) && good;
    return good ? 0 : 1;
}
