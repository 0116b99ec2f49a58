#include "app/gui/canvas/diagram_loader.h"

#include <map>
#include <utility>

namespace workbench::gui {
namespace {

Result<Picture> make(DiagramSource source, const DiagramLoader::MakeRequest& makeRequest,
                     LayoutEngine& engine, const Job& job) {
    if (!source.tree)
        source.tree = std::make_shared<const ModuleTree>(buildModuleTree(*source.graph));
    DiagramRequest request = makeRequest(*source.graph, *source.tree);
    if (job.cancelled())
        return cancelledError();
    auto scene = makeScene(buildDiagram(*source.graph, *source.tree, request), engine, job.cancel);
    if (!scene)
        return scene.error();
    return Picture{std::move(source), std::move(request), std::move(scene).value()};
}

/// One helper process and one memory of solved layouts for all panes that live at the same time. GUI thread
/// only.
std::shared_ptr<LayoutEngine> engineFor(const Locations& locations) {
    static std::map<std::pair<std::filesystem::path, std::filesystem::path>, std::weak_ptr<LayoutEngine>>
        engines;
    const std::pair place(locations.executables / "workbench-layout", locations.cache / "layout");
    std::shared_ptr<LayoutEngine> engine = engines[place].lock();
    if (!engine) {
        engine = std::make_shared<LayoutEngine>(place.first, place.second);
        engines[place] = engine;
    }
    return engine;
}

} // namespace

DiagramLoader::DiagramLoader(const Locations& locations, QObject* parent)
    : QObject(parent), m_engine(engineFor(locations)) {}

DiagramLoader::~DiagramLoader() {
    m_running.cancel();
}

void DiagramLoader::load(const DiagramSource& source, MakeRequest makeRequest) {
    const bool wasBusy = busy();
    m_running.cancel();
    const DiagramSource from = source.graph == m_known.graph && !source.tree ? m_known : source;
    const std::int64_t ticket = ++m_ticket;
    m_running = m_jobs.start(this,
                             [this, ticket, from, makeRequest = std::move(makeRequest),
                              engine = m_engine](const Job& job) -> Closure {
                                 auto result = std::make_shared<Result<Picture>>(
                                     guarded<Picture>([&] { return make(from, makeRequest, *engine, job); }));
                                 return [this, ticket, result] { finish(ticket, *result); };
                             });
    if (!wasBusy)
        Q_EMIT busyChanged(true);
}

void DiagramLoader::cancel() {
    m_running.cancel();
}

void DiagramLoader::finish(std::int64_t ticket, const Result<Picture>& result) {
    if (ticket != m_ticket)
        return;
    m_running = {};
    Q_EMIT busyChanged(false);
    if (!result) {
        Q_EMIT failed(result.error());
        return;
    }
    m_known = result->source;
    Q_EMIT loaded(*result);
}

} // namespace workbench::gui
