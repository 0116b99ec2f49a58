#include "core/layout/flat_problem.h"

#include "core/support/sha256.h"

#include <nlohmann/json.hpp>

namespace workbench {
namespace {

using nlohmann::json;

/// Changes whenever the helper would solve the same problem differently.
constexpr const char* kSolverVersion = "5";

json endJson(const FlatEnd& end) {
    return json::array({end.box, end.door});
}

FlatEnd endFrom(const json& value) {
    return {value.at(0).get<std::int32_t>(), value.at(1).get<std::int32_t>()};
}

json pointsJson(const std::vector<Point>& points) {
    json values = json::array();
    for (const Point& point : points) {
        values.push_back(point.x);
        values.push_back(point.y);
    }
    return values;
}

std::vector<Point> pointsFrom(const json& values) {
    std::vector<Point> points;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
        points.push_back({values[i].get<double>(), values[i + 1].get<double>()});
    return points;
}

bool isInside(const FlatEnd& end, const FlatProblem& problem, bool isTarget) {
    if (end.box == FlatEnd::kOutside)
        return end.door >= 0 && end.door < (isTarget ? problem.exits : problem.entries);
    if (end.box < 0 || static_cast<std::size_t>(end.box) >= problem.boxes.size())
        return false;
    const FlatBox& box = problem.boxes[static_cast<std::size_t>(end.box)];
    const std::size_t doors = isTarget ? box.entries.size() : box.exits.size();
    return end.door >= -1 && end.door < static_cast<std::int32_t>(doors);
}

FlatProblem readProblem(const json& value) {
    FlatProblem problem;
    for (const json& box : value.at("boxes"))
        problem.boxes.push_back({box.at(0).get<std::int32_t>(), box.at(1).get<std::int32_t>(),
                                 box.at(2).get<std::int32_t>(), box.at(3).get<std::int32_t>(),
                                 box.at(4).get<std::vector<std::int32_t>>(),
                                 box.at(5).get<std::vector<std::int32_t>>()});
    for (const json& edge : value.at("edges"))
        problem.edges.push_back({endFrom(edge.at(0)), endFrom(edge.at(1)), edge.at(2).get<std::int32_t>(),
                                 edge.at(3).get<std::int32_t>()});
    problem.entries = value.at("entries").get<std::int32_t>();
    problem.exits = value.at("exits").get<std::int32_t>();
    problem.boxGap = value.at("box_gap").get<std::int32_t>();
    problem.rankGap = value.at("rank_gap").get<std::int32_t>();
    return problem;
}

FlatSolution readSolution(const json& value) {
    FlatSolution solution;
    solution.width = value.at("width").get<double>();
    solution.height = value.at("height").get<double>();
    solution.boxes = pointsFrom(value.at("boxes"));
    for (const json& edge : value.at("edges"))
        solution.edges.push_back(pointsFrom(edge));
    solution.labels = pointsFrom(value.at("labels"));
    solution.entries = value.at("entries").get<std::vector<double>>();
    solution.exits = value.at("exits").get<std::vector<double>>();
    return solution;
}

} // namespace

json toJson(const FlatProblem& problem) {
    json boxes = json::array();
    for (const FlatBox& box : problem.boxes)
        boxes.push_back(json::array({box.width, box.height, box.left, box.right, box.entries, box.exits}));
    json edges = json::array();
    for (const FlatEdge& edge : problem.edges)
        edges.push_back(
            json::array({endJson(edge.from), endJson(edge.to), edge.labelWidth, edge.labelHeight}));
    return {{"boxes", std::move(boxes)}, {"edges", std::move(edges)}, {"entries", problem.entries},
            {"exits", problem.exits},    {"box_gap", problem.boxGap}, {"rank_gap", problem.rankGap}};
}

json toJson(const FlatSolution& solution) {
    json edges = json::array();
    for (const std::vector<Point>& edge : solution.edges)
        edges.push_back(pointsJson(edge));
    return {{"width", solution.width},
            {"height", solution.height},
            {"boxes", pointsJson(solution.boxes)},
            {"edges", std::move(edges)},
            {"labels", pointsJson(solution.labels)},
            {"entries", solution.entries},
            {"exits", solution.exits}};
}

std::optional<FlatProblem> problemFromJson(const json& value) {
    try {
        FlatProblem problem = readProblem(value);
        for (const FlatEdge& edge : problem.edges)
            if (!isInside(edge.from, problem, false) || !isInside(edge.to, problem, true))
                return std::nullopt;
        return problem;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

std::optional<FlatSolution> solutionFromJson(const json& value, const FlatProblem& problem) {
    try {
        FlatSolution solution = readSolution(value);
        const bool fits = solution.boxes.size() == problem.boxes.size() &&
                          solution.edges.size() == problem.edges.size() &&
                          solution.labels.size() == problem.edges.size() &&
                          solution.entries.size() == static_cast<std::size_t>(problem.entries) &&
                          solution.exits.size() == static_cast<std::size_t>(problem.exits);
        for (const std::vector<Point>& edge : solution.edges)
            if (edge.size() < 4 || edge.size() % 3 != 1)
                return std::nullopt;
        return fits ? std::optional(std::move(solution)) : std::nullopt;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

std::string contentKey(const FlatProblem& problem) {
    return sha256Hex(kSolverVersion + toJson(problem).dump());
}

} // namespace workbench
