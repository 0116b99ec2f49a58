#include "core/layout/levels.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace workbench {
namespace {

/// A source and two users of it in a container.
LayoutGraph sharedSource() {
    LayoutGraph graph;
    graph.boxes = {{50, 20}, {0, 0, -1, 20}, {50, 20, 1}, {50, 20, 1}};
    graph.edges = {{0, 2, {40, 12}}, {0, 3, {40, 12}}};
    return graph;
}

FlatSolution solutionOf(const FlatProblem& problem) {
    FlatSolution solution;
    solution.width = 200;
    solution.height = 100;
    solution.boxes.resize(problem.boxes.size(), {10, 10});
    solution.edges.resize(problem.edges.size(), {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
    solution.labels.resize(problem.edges.size());
    solution.entries.resize(static_cast<std::size_t>(problem.entries), 40);
    solution.exits.resize(static_cast<std::size_t>(problem.exits), 60);
    return solution;
}

TEST(Levels, ContainersAreSolvedBeforeWhatIsAroundThem) {
    const LayoutGraph graph = sharedSource();
    const LayoutOptions options;
    EXPECT_EQ(Levels(graph, options).order(), (std::vector<std::int32_t>{1, -1}));
}

TEST(Levels, EdgesOfOneSourceShareTheDoorIntoAContainer) {
    const LayoutGraph graph = sharedSource();
    const LayoutOptions options;
    Levels levels(graph, options);
    const FlatProblem inside = levels.problem(1);
    EXPECT_EQ(inside.entries, 1);
    EXPECT_EQ(inside.edges.size(), 2U);
    levels.setSolution(1, solutionOf(inside));
    const FlatProblem whole = levels.problem(-1);
    EXPECT_EQ(whole.edges.size(), 1U);
    EXPECT_EQ(whole.boxes.at(1).entries, (std::vector<std::int32_t>{58})); // 40 and the padding of 18
}

TEST(Levels, ALabelStandsWhereTheEdgeIsOutermostAndOnce) {
    const LayoutGraph graph = sharedSource();
    const LayoutOptions options;
    Levels levels(graph, options);
    levels.setSolution(1, solutionOf(levels.problem(1)));
    levels.setSolution(-1, solutionOf(levels.problem(-1)));
    EXPECT_EQ(levels.problem(1).edges.at(0).labelWidth, 0);
    EXPECT_EQ(levels.problem(-1).edges.at(0).labelWidth, 40);
    const Layout layout = levels.assemble();
    EXPECT_EQ(layout.labels.at(0).width, 40);
    EXPECT_EQ(layout.labels.at(1).width, 0);
}

TEST(FlatProblem, SurvivesJson) {
    const LayoutGraph graph = sharedSource();
    const LayoutOptions options;
    const FlatProblem problem = Levels(graph, options).problem(1);
    const auto read = problemFromJson(toJson(problem));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, problem);
    EXPECT_EQ(contentKey(*read), contentKey(problem));
}

TEST(FlatProblem, AnEdgeToNoBoxIsRefused) {
    FlatProblem problem;
    problem.boxes.push_back({10, 10});
    problem.edges.push_back({{0, -1}, {1, -1}});
    EXPECT_FALSE(problemFromJson(toJson(problem)));
}

TEST(FlatSolution, OfAnotherProblemIsRefused) {
    FlatProblem problem;
    problem.boxes.resize(2, {10, 10});
    FlatSolution solution = solutionOf(problem);
    EXPECT_TRUE(solutionFromJson(toJson(solution), problem));
    problem.boxes.resize(3, {10, 10});
    EXPECT_FALSE(solutionFromJson(toJson(solution), problem));
    EXPECT_FALSE(solutionFromJson(nlohmann::json(7), problem));
}

} // namespace
} // namespace workbench
