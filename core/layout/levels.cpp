#include "core/layout/levels.h"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

std::int32_t whole(double value) {
    return static_cast<std::int32_t>(std::ceil(value));
}

/// Doors by insertion: the next number for a new key.
std::int32_t doorOf(std::map<std::int32_t, std::int32_t>& doors, std::int32_t key) {
    return doors.emplace(key, static_cast<std::int32_t>(doors.size())).first->second;
}

} // namespace

Levels::Levels(const LayoutGraph& graph, const LayoutOptions& options)
    : m_graph(graph), m_options(options), m_levels(graph.boxes.size() + 1), m_slot(graph.boxes.size(), 0),
      m_ways(graph.edges.size()), m_labelPart(graph.edges.size(), -1) {
    for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
        std::vector<std::int32_t>& members = level(graph.boxes[i].parent).members;
        m_slot[i] = static_cast<std::int32_t>(members.size());
        members.push_back(static_cast<std::int32_t>(i));
    }
    // Parents come before their children, so the reverse order solves what is inside first.
    for (auto box = static_cast<std::int32_t>(graph.boxes.size()) - 1; box >= 0; --box)
        if (!level(box).members.empty())
            m_order.push_back(box);
    m_order.push_back(-1);
    for (std::size_t i = 0; i < graph.edges.size(); ++i)
        route(i);
}

/// The containers of a box, innermost first, -1 last.
std::vector<std::int32_t> Levels::around(std::int32_t box) const {
    std::vector<std::int32_t> containers;
    while (box >= 0) {
        box = m_graph.boxes[at(box)].parent;
        containers.push_back(box);
    }
    return containers;
}

/// Up through an exit of each container that the source alone is in, across, and down through entries. All
/// that comes from one box shares its doors.
void Levels::route(std::size_t edge) {
    const auto [from, to, label] = m_graph.edges[edge];
    const std::vector<std::int32_t> up = around(from);
    std::vector<std::int32_t> down = around(to);
    std::size_t shared = 0; // containers that both are in, counted from the outermost
    while (shared < up.size() && shared < down.size() &&
           up[up.size() - 1 - shared] == down[down.size() - 1 - shared])
        ++shared;
    FlatEnd at{m_slot[Levels::at(from)], -1};
    for (std::size_t i = 0; i + shared < up.size(); ++i) {
        const std::int32_t door = doorOf(level(up[i]).exits, from);
        addPart(edge, up[i], at, {FlatEnd::kOutside, door}, {});
        at = {m_slot[Levels::at(up[i])], door};
    }
    std::vector<std::int32_t> doors; // of the containers on the way down, innermost first
    for (std::size_t i = 0; i + shared < down.size(); ++i)
        doors.push_back(doorOf(level(down[i]).entries, from));
    std::int32_t container = down[down.size() - shared];
    for (std::size_t i = down.size() - shared; i > 0; --i) {
        const std::int32_t inner = down[i - 1];
        addPart(edge, container, at, {m_slot[Levels::at(inner)], doors[i - 1]},
                i == doors.size() ? label : Size{});
        at = {FlatEnd::kOutside, doors[i - 1]};
        container = inner;
    }
    addPart(edge, container, at, {m_slot[Levels::at(to)], -1}, doors.empty() ? label : Size{});
}

void Levels::addPart(std::size_t edge, std::int32_t container, FlatEnd from, FlatEnd to, const Size& label) {
    Level& owner = level(container);
    const auto [known, isNew] = owner.known.emplace(std::pair(from, to), owner.edges.size());
    if (isNew) {
        owner.edges.push_back({from, to, whole(label.width), whole(label.height)});
        if (label.width > 0)
            m_labelPart[edge] = static_cast<std::int32_t>(m_ways[edge].size());
    }
    m_ways[edge].push_back({container, known->second});
}

FlatBox Levels::flatBox(std::int32_t box) const {
    const LayoutBox& asked = m_graph.boxes[at(box)];
    const Level& inside = level(box);
    if (inside.members.empty())
        return {whole(asked.width), whole(asked.height), whole(asked.left), whole(asked.right), {}, {}};
    FlatBox flat;
    const double inner = inside.solution.width + 2 * m_options.padding;
    flat.width = whole(std::max(asked.width, inner));
    flat.height =
        whole(std::max(asked.height, asked.header + inside.solution.height + 2 * m_options.padding));
    const double shift = (flat.width - inside.solution.width) / 2;
    for (const double x : inside.solution.entries)
        flat.entries.push_back(static_cast<std::int32_t>(std::lround(x + shift)));
    for (const double x : inside.solution.exits)
        flat.exits.push_back(static_cast<std::int32_t>(std::lround(x + shift)));
    return flat;
}

FlatProblem Levels::problem(std::int32_t container) const {
    const Level& asked = level(container);
    FlatProblem problem;
    for (const std::int32_t member : asked.members)
        problem.boxes.push_back(flatBox(member));
    problem.edges = asked.edges;
    problem.entries = static_cast<std::int32_t>(asked.entries.size());
    problem.exits = static_cast<std::int32_t>(asked.exits.size());
    problem.boxGap = whole(m_options.boxGap);
    problem.rankGap = whole(m_options.rankGap);
    return problem;
}

void Levels::setSolution(std::int32_t container, FlatSolution solution) {
    level(container).solution = std::move(solution);
}

/// Where (0, 0) of a container's solution lies.
Point Levels::originOf(std::int32_t container, const Layout& layout) const {
    if (container < 0)
        return {};
    const Rect& box = layout.boxes[at(container)];
    const FlatSolution& inside = level(container).solution;
    return {box.x + (box.width - inside.width) / 2,
            box.y + m_graph.boxes[at(container)].header + m_options.padding};
}

void Levels::placeBoxes(Layout& layout) const {
    layout.boxes.resize(m_graph.boxes.size());
    for (std::size_t i = 0; i < m_graph.boxes.size(); ++i) { // parents first
        const std::int32_t parent = m_graph.boxes[i].parent;
        const Point origin = originOf(parent, layout);
        const Point corner = level(parent).solution.boxes[at(m_slot[i])];
        const FlatBox size = flatBox(static_cast<std::int32_t>(i));
        layout.boxes[i] = {origin.x + corner.x, origin.y + corner.y, double(size.width), double(size.height)};
    }
}

void Levels::placeEdge(std::size_t edge, Layout& layout) const {
    std::vector<Point>& line = layout.edges[edge];
    for (std::size_t i = 0; i < m_ways[edge].size(); ++i) {
        const Part& part = m_ways[edge][i];
        const Point origin = originOf(part.container, layout);
        const FlatSolution& solution = level(part.container).solution;
        const std::vector<Point>& points = solution.edges[part.edge];
        if (!line.empty()) {
            // Through the door and the border's padding, straight.
            const Point start = line.back();
            const Point next{origin.x + points.front().x, origin.y + points.front().y};
            line.insert(line.end(), {start, next, next});
        }
        for (std::size_t k = line.empty() ? 0 : 1; k < points.size(); ++k)
            line.push_back({origin.x + points[k].x, origin.y + points[k].y});
        if (m_labelPart[edge] == static_cast<std::int32_t>(i)) {
            const FlatEdge& flat = level(part.container).edges[part.edge];
            layout.labels[edge] = {origin.x + solution.labels[part.edge].x,
                                   origin.y + solution.labels[part.edge].y, double(flat.labelWidth),
                                   double(flat.labelHeight)};
        }
    }
}

/// Graphviz's own bounds, and what rounding has put beyond them.
Rect Levels::boundsOf(const Layout& layout) const {
    double left = 0;
    double top = 0;
    double right = level(-1).solution.width;
    double bottom = level(-1).solution.height;
    for (const Rect& box : layout.boxes) {
        left = std::min(left, box.x);
        top = std::min(top, box.y);
        right = std::max(right, box.x + box.width);
        bottom = std::max(bottom, box.y + box.height);
    }
    return {left, top, right - left, bottom - top};
}

Layout Levels::assemble() const {
    Layout layout;
    placeBoxes(layout);
    layout.edges.resize(m_graph.edges.size());
    layout.labels.resize(m_graph.edges.size());
    for (std::size_t i = 0; i < m_graph.edges.size(); ++i)
        placeEdge(i, layout);
    layout.bounds = boundsOf(layout);
    return layout;
}

} // namespace workbench
