#pragma once

#include "core/layout/layout.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

/// What the helper solves: one container's content, nothing nested. Also what is cached.

namespace workbench {

/// A box with doors at fixed places: edges that go on inside of it. All numbers are whole.
struct FlatBox {
    std::int32_t width = 0, height = 0;
    std::int32_t left = 0, right = 0;  ///< parts at the sides that edges keep away from
    std::vector<std::int32_t> entries; ///< distances from the left, along the upper side
    std::vector<std::int32_t> exits;   ///< along the lower side
    bool operator==(const FlatBox&) const = default;
};

/// The end of an edge. Box kOutside is the container's own border: `door` counts its entries or exits.
struct FlatEnd {
    static constexpr std::int32_t kOutside = -1;
    std::int32_t box = kOutside;
    std::int32_t door = -1; ///< -1: anywhere on the box
    auto operator<=>(const FlatEnd&) const = default;
};

struct FlatEdge {
    FlatEnd from, to;
    std::int32_t labelWidth = 0, labelHeight = 0;
    bool operator==(const FlatEdge&) const = default;
};

struct FlatProblem {
    std::vector<FlatBox> boxes;
    std::vector<FlatEdge> edges;
    std::int32_t entries = 0, exits = 0; ///< doors of the container itself; their places are found here
    std::int32_t boxGap = 0, rankGap = 0;
    bool operator==(const FlatProblem&) const = default;
};

struct FlatSolution {
    double width = 0, height = 0;
    std::vector<Point> boxes; ///< upper left corners
    std::vector<std::vector<Point>> edges;
    std::vector<Point> labels;          ///< upper left corners; (0, 0) where no label was asked for
    std::vector<double> entries, exits; ///< x of the container's doors; entries are at y 0, exits at `height`
};

nlohmann::json toJson(const FlatProblem& problem);
nlohmann::json toJson(const FlatSolution& solution);
/// nullopt: not what toJson makes.
std::optional<FlatProblem> problemFromJson(const nlohmann::json& json);
/// nullopt: not what toJson makes, or not a solution of this problem.
std::optional<FlatSolution> solutionFromJson(const nlohmann::json& json, const FlatProblem& problem);

/// Equal for equal problems: the name of a solution in the cache.
std::string contentKey(const FlatProblem& problem);

} // namespace workbench
