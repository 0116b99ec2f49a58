#include "app/session/node_times.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace workbench {
namespace {

using nlohmann::json;

Graph parsed(const char* text) {
    auto graph = parseGraph(text);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(graph).value();
}

Graph canonicalGraph() {
    return parsed(R"(input %x: f32[2, 2]
%gate: f32[2, 2] = aten.silu.default(self=%x)
%product: f32[2, 2] = aten.mul.Tensor(self=%gate, other=%x)
%sum: f32[2, 2] = aten.add.Tensor(self=%product, other=%x)
output %sum
)");
}

/// `gate` and `product` became one node that keeps the name of the result, and two new ones stand for `sum`.
Graph rewrittenGraph() {
    Graph graph = parsed(R"(input %x: f32[2, 2]
%product: f32[2, 2] = aten.silu.default(self=%x)
%fresh: f32[2, 2] = aten.relu.default(self=%product)
%fresh_2: f32[2, 2] = aten.relu.default(self=%fresh)
output %fresh_2
)");
    graph.nodes[0].origins = {0, 1};
    graph.nodes[1].origins = {2};
    graph.nodes[2].origins = {2};
    return graph;
}

TEST(NodeTimes, AreMillisecondsOfAStep) {
    const json profile = {{"steps", 4}, {"nodes", {{"gate", 0.002}, {"sum", 0.004}}}};
    const Graph graph = canonicalGraph();
    EXPECT_EQ(nodeTimes(profile, graph, graph), (NodeTimes::ByName{{"gate", 0.5}, {"sum", 1.0}}));
}

TEST(NodeTimes, OfAFusedNodeStandWhereItsResultWasMade) {
    const json profile = {{"steps", 1},
                          {"nodes", {{"product", 0.001}, {"fresh", 0.002}, {"fresh_2", 0.004}}}};
    const NodeTimes::ByName times = nodeTimes(profile, rewrittenGraph(), canonicalGraph());
    EXPECT_EQ(times, (NodeTimes::ByName{{"product", 1.0}, {"sum", 6.0}}));
}

TEST(NodeTimes, OfAPlaceAreShownOnceInTheRewrittenGraph) {
    EXPECT_EQ(timesIn(rewrittenGraph(), canonicalGraph(), {{"product", 1.0}, {"sum", 6.0}, {"gone", 9.0}}),
              (NodeTimes::ByName{{"product", 1.0}, {"fresh_2", 6.0}}));
}

TEST(NodeTimes, AWorkerThatSaysNothingOrNonsenseOfNodesHasNone) {
    const Graph graph = canonicalGraph();
    for (const json& profile :
         {json(), json("fast"), json{{"steps", 4}}, json{{"steps", 0}, {"nodes", {{"gate", 1}}}},
          json{{"steps", 4}, {"nodes", {1, 2}}}, json{{"steps", 4}, {"nodes", {{"gate", "long"}}}},
          json{{"steps", 4}, {"nodes", {{"gate", -1}, {"unknown", 1}}}}})
        EXPECT_TRUE(nodeTimes(profile, graph, graph).empty()) << profile;
}

} // namespace
} // namespace workbench
