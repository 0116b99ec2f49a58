#include "core/layout/routing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

/// Source and target above each other with a box in the row between them; the edge passes at its right.
struct Passing {
    FlatProblem problem;
    FlatSolution solution;
};

Passing passing() {
    Passing made;
    made.problem.boxes = {{40, 20}, {40, 20}, {40, 20}};
    made.problem.edges = {{{0, -1}, {2, -1}}};
    made.solution.width = 200;
    made.solution.height = 140;
    made.solution.boxes = {{10, 0}, {10, 60}, {10, 120}};
    made.solution.edges = {{{30, 20}, {80, 40}, {80, 100}, {30, 120}}};
    made.solution.labels = {{}};
    return made;
}

TEST(Routing, AnEdgeGoesStraightPastTheBoxesOfARow) {
    Passing made = passing();
    routeInRows(made.problem, made.solution);
    const std::vector<Point>& edge = made.solution.edges[0];
    ASSERT_EQ(edge.size() % 3, 1U);
    for (const Point& point : edge)
        if (point.y >= 60 && point.y <= 80) {
            EXPECT_GE(point.x, 50);
        }
    EXPECT_EQ(edge.front(), (Point{30, 20}));
    EXPECT_EQ(edge.back(), (Point{30, 120}));
}

TEST(Routing, WhereNothingIsInTheWayAnEdgeIsALine) {
    Passing made = passing();
    made.solution.boxes[1] = {100, 60};
    made.solution.edges[0] = {{30, 20}, {40, 40}, {40, 100}, {30, 120}};
    routeInRows(made.problem, made.solution);
    for (const Point& point : made.solution.edges[0])
        EXPECT_EQ(point.x, 30);
}

TEST(Routing, EdgesArriveApartInTheOrderInWhichTheyCome) {
    FlatProblem problem;
    problem.boxes = {{40, 20}, {40, 20}, {100, 20}};
    problem.edges = {{{1, -1}, {2, -1}}, {{0, -1}, {2, -1}}};
    FlatSolution solution;
    solution.boxes = {{0, 0}, {100, 0}, {20, 60}};
    solution.edges = {{{120, 20}, {120, 30}, {70, 50}, {70, 60}}, {{20, 20}, {20, 30}, {70, 50}, {70, 60}}};
    solution.labels.resize(2);
    routeInRows(problem, solution);
    EXPECT_LT(solution.edges[1].back().x, solution.edges[0].back().x);
    EXPECT_NEAR((solution.edges[1].back().x + solution.edges[0].back().x) / 2, 70, 0.01);
}

TEST(Routing, AnEdgePassesLeftOfItsLabel) {
    Passing made = passing();
    made.solution.boxes[1] = {100, 60};
    made.problem.edges[0].labelWidth = 50;
    made.problem.edges[0].labelHeight = 12;
    made.solution.labels = {{45, 34}};
    routeInRows(made.problem, made.solution);
    for (const Point& point : made.solution.edges[0])
        if (point.y >= 34 && point.y <= 46) {
            EXPECT_LT(point.x, 45);
        }
}

TEST(Routing, AnEdgeThatLeadsUpwardsStaysAsItIs) {
    Passing made = passing();
    std::swap(made.problem.edges[0].from, made.problem.edges[0].to);
    std::reverse(made.solution.edges[0].begin(), made.solution.edges[0].end());
    const auto before = made.solution.edges[0];
    routeInRows(made.problem, made.solution);
    EXPECT_EQ(made.solution.edges[0], before);
}

} // namespace
} // namespace workbench
