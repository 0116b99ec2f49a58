#pragma once

#include "core/support/cancel.h"
#include "core/support/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

/// Places boxes and routes edges from top to bottom. Plain structs in, positions and curves out.

namespace workbench {

/// Device-independent pixels; y grows downwards.
struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};
struct Size {
    double width = 0, height = 0;
    bool operator==(const Size&) const = default;
};
struct Rect {
    double x = 0, y = 0, width = 0, height = 0; ///< of the upper left corner
    bool operator==(const Rect&) const = default;
};

struct LayoutBox {
    double width = 0, height = 0; ///< of a container: the least size
    std::int32_t parent = -1;     ///< index of the box that contains it; parents come before their children
    double header = 0;            ///< of a container: height kept free above its children
    double left = 0, right = 0;   ///< of a leaf: parts at its sides that edges keep away from
    bool operator==(const LayoutBox&) const = default;
};
/// Between two boxes that contain nothing.
struct LayoutEdge {
    std::int32_t from = 0, to = 0;
    Size label; ///< room kept beside the edge; zero: none
    bool operator==(const LayoutEdge&) const = default;
};
struct LayoutGraph {
    std::vector<LayoutBox> boxes;
    std::vector<LayoutEdge> edges;
};

/// Where everything is. `bounds` contains all of it and begins at (0, 0), give or take a pixel.
struct Layout {
    std::vector<Rect> boxes;               ///< as LayoutGraph::boxes
    std::vector<std::vector<Point>> edges; ///< as LayoutGraph::edges: control points of cubic Bezier curves,
                                           ///< 3n + 1 of them, the last one at the arrow's tip
    std::vector<Rect> labels;              ///< as LayoutGraph::edges; of no size where no label was asked for
    Rect bounds;
};

struct LayoutOptions {
    double boxGap = 28;  ///< between boxes beside each other
    double rankGap = 44; ///< between boxes below each other
    double padding = 18; ///< between a container's border and its children
    std::chrono::milliseconds timeLimit{60'000};
};

/// Lays out in a helper process that is started once and kept warm: nothing but the end of a process
/// interrupts Graphviz. Each opened container is a problem of its own, solved once for all that are alike;
/// solved ones are kept in memory and under the cache folder. Any thread may call: a few requests run side by
/// side, with a helper each.
class LayoutEngine {
public:
    /// `helper`: the workbench-layout executable. `cache`: a folder that may not exist yet; empty: none on
    /// disk.
    LayoutEngine(std::filesystem::path helper, std::filesystem::path cache);
    ~LayoutEngine();
    LayoutEngine(const LayoutEngine&) = delete;
    LayoutEngine& operator=(const LayoutEngine&) = delete;

    /// Starts the helper ahead of the first request; what fails is said by layOut.
    void warmUp();
    /// Errors: cancelled; the helper cannot be started, died, or ran past the time limit (runtimeFailed).
    Result<Layout> layOut(const LayoutGraph& graph, const LayoutOptions& options, const CancelToken* cancel);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace workbench
