#include "app/gui/canvas/canvas_panel.h"
#include "app/gui/canvas/hit_list.h"
#include "app/gui/canvas/search_bar.h"

#include <algorithm>
#include <utility>

/// Search in the canvas: the index is made once, in a thread, and asked in a thread, so that typing never
/// waits.

namespace workbench::gui {
namespace {

constexpr std::size_t kMostHits = 2000;

struct Found {
    std::shared_ptr<const SearchIndex> index;
    std::vector<SearchHit> hits;
};

Result<Found> findHits(std::shared_ptr<const SearchIndex> index, const TracedModel& model,
                       const std::string& query, const Job& job) {
    Found found{std::move(index), {}};
    if (!found.index)
        found.index = std::make_shared<const SearchIndex>(model.canonical, &model.analysis);
    if (!job.cancelled())
        found.hits = found.index->find(query, kMostHits);
    return found;
}

} // namespace

void CanvasPanel::search(const QString& text) {
    const std::int64_t ticket = ++m_ticket;
    m_searching.cancel();
    m_searching = {};
    m_stepWhenFound = 0;
    if (text.trimmed().isEmpty())
        return takeHits({});
    const auto model = document().session().sharedModel();
    m_searching = m_jobs.start(
        this, [this, ticket, model, index = m_index, query = text.toStdString()](const Job& job) -> Closure {
            auto found = std::make_shared<Result<Found>>(
                guarded<Found>([&] { return findHits(index, *model, query, job); }));
            return [this, ticket, found] {
                if (*found)
                    m_index = (*found)->index;
                if (ticket != m_ticket)
                    return;
                takeHits(*found ? std::move((*found)->hits) : std::vector<SearchHit>());
                if (!*found)
                    m_search->setFault(QString::fromStdString(found->error().message));
            };
        });
}

void CanvasPanel::takeHits(std::vector<SearchHit> hits) {
    m_searching = {};
    m_hits->setHits(std::move(hits));
    m_hit = -1;
    showHits();
    markHits();
    if (const int step = std::exchange(m_stepWhenFound, 0); step != 0)
        stepHit(step);
}

void CanvasPanel::showHits() {
    const std::size_t count = m_hits->hits().size();
    m_search->setHits(m_hit, static_cast<int>(count), count >= kMostHits);
    m_hitList->setCurrentHit(m_hit);
}

/// The hits that the drawing shows, as the boxes that hold them.
void CanvasPanel::markHits() {
    const Scene* scene = m_pane->scene();
    std::vector<std::int32_t> boxes;
    if (scene && m_search->isVisible())
        for (const SearchHit& hit : m_hits->hits()) {
            const std::int32_t box = hit.node == kNone ? -1 : boxOf(scene->diagram, hit.node);
            if (hit.kind != SearchHit::Kind::module && box >= 0)
                boxes.push_back(box);
        }
    std::sort(boxes.begin(), boxes.end());
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
    m_pane->view().setSearchHits(std::move(boxes));
}

void CanvasPanel::stepHit(int step) {
    if (m_searching.valid()) {
        m_stepWhenFound = step;
        return;
    }
    const int count = m_hits->rowCount();
    if (count > 0)
        chooseHit(m_hit < 0 ? (step > 0 ? 0 : count - 1) : (m_hit + step + count) % count);
}

void CanvasPanel::chooseHit(int index) {
    m_hit = index;
    showHits();
    const SearchHit hit = m_hits->hits()[static_cast<std::size_t>(index)];
    m_choosing = true;
    if (hit.site)
        selection().selectSite(*hit.site, hit.module);
    else if (hit.kind == SearchHit::Kind::module || hit.node == kNone)
        selection().selectModule(hit.module);
    else
        selection().selectNode(hit.node, hit.module);
    m_choosing = false;
    reveal();
}

} // namespace workbench::gui
