#include "app/gui/before_after/pane_sync.h"

#include <QtCore/QScopedValueRollback>

#include <algorithm>
#include <utility>

namespace workbench::gui {
namespace {

constexpr std::size_t kTries = 12; // boxes near the middle that are asked for a partner before giving up

Highlight highlightOf(std::optional<Fate> fate) {
    if (!fate)
        return Highlight::none;
    switch (*fate) {
    case Fate::added:
        return Highlight::added;
    case Fate::removed:
        return Highlight::removed;
    case Fate::merged:
        return Highlight::merged;
    case Fate::kept:
        return Highlight::none;
    }
    return Highlight::none;
}

QPointF spotOf(const Scene& scene, std::int32_t box) {
    const QRectF rect = scene.boxes[static_cast<std::size_t>(box)];
    return {rect.center().x(), rect.top()};
}

QString listed(const Scene& scene, const std::vector<std::int32_t>& boxes) {
    constexpr std::size_t kMost = 4;
    QStringList names;
    for (std::size_t i = 0; i < std::min(boxes.size(), kMost); ++i)
        names << QString::fromStdString(boxAt(scene, boxes[i]).title);
    QString text = names.join(", ");
    return boxes.size() > kMost ? PaneSync::tr("%1 and %2 more").arg(text).arg(boxes.size() - kMost) : text;
}

} // namespace

PaneSync::PaneSync(CanvasPane& original, CanvasPane& rewritten, QObject* parent)
    : QObject(parent), m_panes{&original, &rewritten} {
    connectPane(GraphSide::original);
    connectPane(GraphSide::rewritten);
}

void PaneSync::connectPane(GraphSide side) {
    CanvasPane& mine = pane(side);
    CanvasPane& other = pane(otherSide(side));
    connect(&mine, &CanvasPane::shown, this, [this, side] {
        paintFates(side);
        m_reference.clear();
        if (std::exchange(m_mirrored, std::nullopt) == side)
            pane(otherSide(side)).showRequest(pane(side).picture().request);
        if (!pane(otherSide(side)).busy())
            align(m_leader);
    });
    connect(&mine, &CanvasPane::revealed, this, [this, side] {
        if (pane(otherSide(side)).busy())
            return; // the later one brings both in line
        CanvasView& leader = pane(GraphSide::original).view();
        leader.ensureShown(leader.chosen(), CanvasView::kReadable);
        align(GraphSide::original);
    });
    connect(&mine.view(), &CanvasView::viewChanged, this, [this, side] {
        if (!m_following)
            follow(side);
    });
    connect(&mine.view(), &CanvasView::chosenChanged, this, [this, side] {
        choosePartners(side);
        Q_EMIT chosen(side);
    });
    connect(&mine.view(), &CanvasView::toggleRequested, this, [this, side, &mine, &other](int box) {
        m_leader = side;
        const Box& toggled = boxAt(*mine.scene(), box);
        other.setExpanded(toggled.key.substr(toggled.key.find(':') + 1), !toggled.expanded);
    });
    // A first look depends on the graph: the other pane shows what this one has made of it.
    const auto mirror = [this, side] {
        if (pane(side).busy()) // the pane heard it before us
            m_mirrored = m_leader = side;
    };
    connect(&mine.view(), &CanvasView::openRequested, this, mirror);
    connect(&mine.view(), &CanvasView::outRequested, this, mirror);
}

void PaneSync::setCorrespondence(std::shared_ptr<const Correspondence> map,
                                 std::shared_ptr<const Graph> original,
                                 std::shared_ptr<const Graph> rewritten) {
    m_map = std::move(map);
    m_graphs[0] = std::move(original);
    m_graphs[1] = std::move(rewritten);
    m_reference.clear();
    if (m_map)
        return;
    for (CanvasPane* each : m_panes)
        each->view().setFates({});
}

bool PaneSync::isCurrent(GraphSide side) const {
    const CanvasPane& shown = pane(side);
    return m_map && shown.scene() && shown.picture().source.graph == m_graphs[side == GraphSide::rewritten];
}

void PaneSync::openScope(const std::string& scope) {
    m_mirrored = m_leader = GraphSide::original;
    pane(GraphSide::original).openScope(scope);
}

void PaneSync::paintFates(GraphSide side) {
    if (!isCurrent(side))
        return;
    std::vector<Highlight> highlights;
    for (const std::optional<Fate> fate : fatesOf(*m_map, side, pane(side).scene()->diagram))
        highlights.push_back(highlightOf(fate));
    pane(side).view().setFates(std::move(highlights));
}

std::int32_t PaneSync::partnerOf(GraphSide side, std::int32_t box) const {
    const Scene& other = *pane(otherSide(side)).scene();
    const std::vector<std::int32_t> boxes =
        partnersOf(*m_map, side, boxAt(*pane(side).scene(), box), other.diagram);
    return boxes.empty() ? -1 : boxes.front();
}

bool PaneSync::isInSight(GraphSide side, std::int32_t box) const {
    return pane(side).view().visiblePart().contains(spotOf(*pane(side).scene(), box));
}

/// The box that both panes are aligned by: the last one while it is in sight, else the chosen one, else the
/// one nearest to the middle that has a partner. Changing it seldom keeps the follower's motion smooth.
std::int32_t PaneSync::reference(GraphSide leader) {
    const Scene& scene = *pane(leader).scene();
    if (const std::int32_t chosen = pane(leader).view().current();
        chosen >= 0 && isInSight(leader, chosen) && partnerOf(leader, chosen) >= 0)
        return chosen;
    if (!m_reference.empty())
        for (std::size_t i = 0; i < scene.boxes.size(); ++i)
            if (scene.diagram.boxes[i].key == m_reference && isInSight(leader, static_cast<std::int32_t>(i)))
                return static_cast<std::int32_t>(i);
    const QPointF middle = pane(leader).view().visiblePart().center();
    std::vector<std::pair<double, std::int32_t>> near;
    for (std::size_t i = 0; i < scene.boxes.size(); ++i)
        if (const Box& box = scene.diagram.boxes[i]; !box.expanded && box.kind != Box::Kind::value)
            near.emplace_back((spotOf(scene, static_cast<std::int32_t>(i)) - middle).manhattanLength(),
                              static_cast<std::int32_t>(i));
    const std::size_t tries = std::min(kTries, near.size());
    std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(tries), near.end());
    for (std::size_t i = 0; i < tries; ++i)
        if (partnerOf(leader, near[i].second) >= 0)
            return near[i].second;
    return -1;
}

void PaneSync::follow(GraphSide leader) {
    m_leader = leader;
    CanvasPane& from = pane(leader);
    CanvasPane& to = pane(otherSide(leader));
    if (!isCurrent(GraphSide::original) || !isCurrent(GraphSide::rewritten))
        return;
    const QScopedValueRollback guard(m_following, true);
    const std::int32_t box = reference(leader);
    if (box < 0) { // nothing in common here: at least the size is
        to.view().zoomTo(from.view().zoom(), QRectF(to.view().viewport()->rect()).center());
        return;
    }
    m_reference = boxAt(*from.scene(), box).key;
    const QPointF spot = from.view().viewportTransform().map(spotOf(*from.scene(), box));
    to.view().place(spotOf(*to.scene(), partnerOf(leader, box)), spot, from.view().zoom());
}

void PaneSync::align(GraphSide leader) {
    m_reference.clear();
    follow(leader);
}

void PaneSync::choosePartners(GraphSide side) {
    CanvasPane& to = pane(otherSide(side));
    if (!isCurrent(GraphSide::original) || !isCurrent(GraphSide::rewritten))
        return;
    std::vector<std::int32_t> partners;
    for (const std::int32_t box : pane(side).view().chosen()) {
        const std::vector<std::int32_t> some =
            partnersOf(*m_map, side, boxAt(*pane(side).scene(), box), to.scene()->diagram);
        partners.insert(partners.end(), some.begin(), some.end());
    }
    std::sort(partners.begin(), partners.end());
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
    to.view().choose(std::move(partners));
    align(side);
}

QString PaneSync::fateText(GraphSide side, std::int32_t index) const {
    if (!isCurrent(side) || index < 0)
        return {};
    const Box& box = boxAt(*pane(side).scene(), index);
    const QString name = QString::fromStdString(box.title);
    const Scene* other = isCurrent(otherSide(side)) ? pane(otherSide(side)).scene() : nullptr;
    const std::vector<std::int32_t> partners =
        other ? partnersOf(*m_map, side, box, other->diagram) : std::vector<std::int32_t>();
    const std::optional<Fate> fate = fateOf(*m_map, side, box);
    if (fate == Fate::removed)
        return tr("No partner: %1 is not in the rewritten graph, nothing reads it any more.").arg(name);
    if (fate == Fate::added)
        return tr("No partner: %1 is added by the rewrite.").arg(name);
    if (!hasPartner(*m_map, side, box) && box.kind != Box::Kind::value)
        return tr("No partner: nothing of %1 is on the other side.").arg(name);
    if (partners.empty())
        return tr("The partner of %1 is not in this part of the other graph.").arg(name);
    if (fate != Fate::merged)
        return tr("%1 is the same on both sides.").arg(name);
    if (box.kind == Box::Kind::module)
        return tr("%1 holds nodes that the rewrite changed.").arg(name);
    return side == GraphSide::original ? tr("%1 went into %2.").arg(name, listed(*other, partners))
                                       : tr("%1 takes over %2.").arg(name, listed(*other, partners));
}

} // namespace workbench::gui
