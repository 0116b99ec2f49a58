#include "core/layout/routing.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace workbench {
namespace {

constexpr double kWidestSpread = 18; ///< between the ends of edges at one box
constexpr double kSharedSide = 0.7;  ///< of a box's width that such ends may take
constexpr double kSameRow = 0.75;
constexpr double kClear = 8;       ///< between a way and what it passes
constexpr double kEdgeClear = 10;  ///< between two ways
constexpr double kLabelReach = 24; ///< at most so far left of its label does an edge pass
constexpr double kLabelGap = 2;    ///< that an edge reaches into its label's room, which has a margin
/// Above so many boxes and edges ways stay where Graphviz has them: straightening looks at all of a row.
constexpr std::size_t kLarge = 1500;

/// Something that a way must not cross.
struct Obstacle {
    double left = 0, right = 0;
    std::int32_t way = -1;   ///< the edge whose way it is, -1: a box or a label
    std::int32_t label = -1; ///< the edge whose label it is
};

/// Boxes and labels at one height.
struct Row {
    double centre = 0, top = 0, bottom = 0;
    std::vector<Obstacle> obstacles;
};

/// Where an edge passes a row.
struct Pass {
    std::size_t row = 0;
    double x = 0;
};

struct Range {
    double low = 0, high = 0;
};

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

class Router {
public:
    Router(const FlatProblem& problem, FlatSolution& solution) : m_problem(problem), m_solution(solution) {
        collectRows();
    }
    void run();

private:
    void collectRows();
    Point endOf(const FlatEnd& end, bool isTarget) const;
    double wayAt(const std::vector<Point>& curve, double y) const;
    void collectPasses(std::size_t edge);
    Range freeAt(std::size_t edge, const Pass& pass) const;
    void straighten(std::size_t edge);
    void movePass(std::size_t edge, Pass& pass, double x);
    void moveLabel(std::size_t edge, Obstacle& label, double x);
    double originOf(std::size_t edge, bool isTarget) const;
    void spread(bool isTarget);
    std::vector<Point> wayOf(std::size_t edge) const;
    void draw(std::size_t edge);

    const FlatProblem& m_problem;
    FlatSolution& m_solution;
    std::vector<Row> m_rows;                 ///< from top to bottom
    std::vector<std::vector<Pass>> m_passes; ///< by edge, from top to bottom
    std::vector<Point> m_starts, m_goals;    ///< by edge
};

void Router::collectRows() {
    std::vector<Row> single;
    for (std::size_t i = 0; i < m_problem.boxes.size(); ++i) {
        const FlatBox& box = m_problem.boxes[i];
        const Point corner = m_solution.boxes[i];
        single.push_back({corner.y + box.height / 2.0,
                          corner.y,
                          corner.y + box.height,
                          {{corner.x, corner.x + box.width}}});
    }
    for (std::size_t i = 0; i < m_problem.edges.size(); ++i)
        if (const FlatEdge& edge = m_problem.edges[i]; edge.labelHeight > 0) {
            const Point corner = m_solution.labels[i];
            single.push_back({corner.y + edge.labelHeight / 2.0,
                              corner.y,
                              corner.y + edge.labelHeight,
                              {{corner.x, corner.x + edge.labelWidth, -1, static_cast<std::int32_t>(i)}}});
        }
    std::sort(single.begin(), single.end(), [](const Row& a, const Row& b) { return a.centre < b.centre; });
    for (Row& row : single) {
        if (m_rows.empty() || row.centre - m_rows.back().centre >= kSameRow) {
            m_rows.push_back(std::move(row));
            continue;
        }
        m_rows.back().top = std::min(m_rows.back().top, row.top);
        m_rows.back().bottom = std::max(m_rows.back().bottom, row.bottom);
        m_rows.back().obstacles.push_back(row.obstacles.front());
    }
}

/// The middle of the part of a box that edges may meet, or the door.
Point Router::endOf(const FlatEnd& end, bool isTarget) const {
    if (end.box == FlatEnd::kOutside)
        return isTarget ? Point{m_solution.exits[at(end.door)], m_solution.height}
                        : Point{m_solution.entries[at(end.door)], 0};
    const FlatBox& box = m_problem.boxes[at(end.box)];
    const Point corner = m_solution.boxes[at(end.box)];
    const double y = isTarget ? corner.y : corner.y + box.height;
    if (end.door >= 0)
        return {corner.x + (isTarget ? box.entries : box.exits)[at(end.door)], y};
    return {corner.x + box.left + (box.width - box.left - box.right) / 2.0, y};
}

/// x of a curve at a height.
double Router::wayAt(const std::vector<Point>& curve, double y) const {
    for (std::size_t i = 0; i + 3 < curve.size(); i += 3) {
        if (y < curve[i].y || y > curve[i + 3].y)
            continue;
        double low = 0;
        double high = 1;
        const auto value = [&](double t, double Point::*axis) {
            const double s = 1 - t;
            return s * s * s * curve[i].*axis + 3 * s * s * t * curve[i + 1].*axis +
                   3 * s * t * t * curve[i + 2].*axis + t * t * t * curve[i + 3].*axis;
        };
        for (int step = 0; step < 24; ++step) {
            const double middle = (low + high) / 2;
            (value(middle, &Point::y) < y ? low : high) = middle;
        }
        return value(low, &Point::x);
    }
    return y < curve.front().y ? curve.front().x : curve.back().x;
}

/// The rows between the ends of an edge, where Graphviz has it pass them.
void Router::collectPasses(std::size_t edge) {
    m_starts.push_back(endOf(m_problem.edges[edge].from, false));
    m_goals.push_back(endOf(m_problem.edges[edge].to, true));
    const double start = m_starts.back().y;
    const double end = m_goals.back().y;
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        if (m_rows[row].top < start || m_rows[row].bottom > end)
            continue;
        const double x = wayAt(m_solution.edges[edge], m_rows[row].centre);
        m_passes[edge].push_back({row, x});
        m_rows[row].obstacles.push_back({x, x, static_cast<std::int32_t>(edge)});
    }
}

/// How far a way may move in a row without coming near anything else.
Range Router::freeAt(std::size_t edge, const Pass& pass) const {
    Range range{-1e9, 1e9};
    for (const Obstacle& obstacle : m_rows[pass.row].obstacles) {
        if (obstacle.way == static_cast<std::int32_t>(edge))
            continue;
        const double clear = obstacle.way >= 0 ? kEdgeClear : kClear;
        if (obstacle.label == static_cast<std::int32_t>(edge)) {
            range.low = std::max(range.low, obstacle.left - kLabelReach);
            range.high = std::min(range.high, obstacle.left + kLabelGap);
        } else if ((obstacle.left + obstacle.right) / 2 < pass.x) {
            range.low = std::max(range.low, obstacle.right + clear);
        } else {
            range.high = std::min(range.high, obstacle.left - clear);
        }
    }
    return range.low <= range.high ? range : Range{pass.x, pass.x};
}

void Router::movePass(std::size_t edge, Pass& pass, double x) {
    pass.x = x;
    for (Obstacle& obstacle : m_rows[pass.row].obstacles) {
        if (obstacle.way == static_cast<std::int32_t>(edge))
            obstacle.left = obstacle.right = x;
        else if (obstacle.label == static_cast<std::int32_t>(edge))
            moveLabel(edge, obstacle, x - kLabelGap);
    }
}

/// A label follows its edge, to the left alone: there was nothing but the edge.
void Router::moveLabel(std::size_t edge, Obstacle& label, double x) {
    if (x >= label.left)
        return;
    label.right += x - label.left;
    label.left = x;
    m_solution.labels[edge].x = x;
}

/// As few bends as the free ranges allow: one x for as many rows as share one, the nearest to where the way
/// comes from.
void Router::straighten(std::size_t edge) {
    std::vector<Pass>& passes = m_passes[edge];
    double x = m_starts[edge].x;
    const double goal = m_goals[edge].x;
    for (std::size_t first = 0; first < passes.size();) {
        Range shared = freeAt(edge, passes[first]);
        std::size_t last = first + 1;
        for (; last < passes.size(); ++last) {
            const Range next = freeAt(edge, passes[last]);
            if (std::max(shared.low, next.low) > std::min(shared.high, next.high))
                break;
            shared = {std::max(shared.low, next.low), std::min(shared.high, next.high)};
        }
        const bool endsStraight = last == passes.size() && goal >= shared.low && goal <= shared.high;
        if (x < shared.low || x > shared.high)
            x = endsStraight ? goal : std::clamp(x, shared.low, shared.high);
        for (; first < last; ++first)
            movePass(edge, passes[first], x);
    }
}

/// Where an edge comes from: the place nearest to its end that is off the end's middle.
double Router::originOf(std::size_t edge, bool isTarget) const {
    const std::vector<Pass>& passes = m_passes[edge];
    const double middle = (isTarget ? m_goals : m_starts)[edge].x;
    for (std::size_t i = 0; i < passes.size(); ++i)
        if (const double x = passes[isTarget ? passes.size() - 1 - i : i].x; std::abs(x - middle) > kClear)
            return x;
    return (isTarget ? m_starts : m_goals)[edge].x;
}

/// Edges that meet in the middle of a box's side are drawn apart, in the order in which they come.
void Router::spread(bool isTarget) {
    std::map<std::int32_t, std::vector<std::pair<double, std::size_t>>> edgesOfBox;
    for (std::size_t i = 0; i < m_starts.size(); ++i) {
        const FlatEnd& end = isTarget ? m_problem.edges[i].to : m_problem.edges[i].from;
        if (end.box != FlatEnd::kOutside && end.door < 0 && m_goals[i].y > m_starts[i].y)
            edgesOfBox[end.box].emplace_back(originOf(i, isTarget), i);
    }
    for (auto& [index, edges] : edgesOfBox) {
        std::sort(edges.begin(), edges.end());
        const FlatBox& box = m_problem.boxes[at(index)];
        const double room = (box.width - box.left - box.right) * kSharedSide;
        const double step = std::min(kWidestSpread, room / static_cast<double>(edges.size()));
        double shift = -step * static_cast<double>(edges.size() - 1) / 2;
        for (const auto& [origin, edge] : edges) {
            (isTarget ? m_goals : m_starts)[edge].x += shift;
            shift += step;
        }
    }
}

/// Two points per row that the edge passes, where it enters and where it leaves the row.
std::vector<Point> Router::wayOf(std::size_t edge) const {
    std::vector<Point> way{m_starts[edge]};
    for (const Pass& pass : m_passes[edge]) {
        way.push_back({pass.x, m_rows[pass.row].top});
        way.push_back({pass.x, m_rows[pass.row].bottom});
    }
    way.push_back(m_goals[edge]);
    return way;
}

/// Straight past rows; between them a curve that starts and ends upright.
void Router::draw(std::size_t edge) {
    const std::vector<Point> way = wayOf(edge);
    std::vector<Point> curve{way.front()};
    for (std::size_t i = 1; i < way.size(); ++i) {
        const Point from = curve.back();
        const Point to = way[i];
        const bool goesOn = i + 1 < way.size() && way[i + 1].x == to.x && from.x == to.x;
        if (goesOn)
            continue; // one line to the last point below
        const double reach = (to.y - from.y) * (from.x == to.x ? 1.0 / 3 : 0.5);
        curve.insert(curve.end(), {{from.x, from.y + reach}, {to.x, to.y - reach}, to});
    }
    m_solution.edges[edge] = std::move(curve);
}

void Router::run() {
    m_passes.resize(m_problem.edges.size());
    for (std::size_t i = 0; i < m_problem.edges.size(); ++i)
        collectPasses(i);
    spread(false);
    spread(true);
    if (m_problem.boxes.size() + m_problem.edges.size() <= kLarge)
        for (std::size_t i = 0; i < m_problem.edges.size(); ++i)
            straighten(i);
    for (std::size_t i = 0; i < m_problem.edges.size(); ++i)
        if (m_goals[i].y > m_starts[i].y)
            draw(i);
}

} // namespace

void routeInRows(const FlatProblem& problem, FlatSolution& solution) {
    Router(problem, solution).run();
}

} // namespace workbench
