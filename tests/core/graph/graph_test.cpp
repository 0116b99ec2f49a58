#include "core/graph/graph.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

Graph parsed(std::string_view text) {
    Result<Graph> graph = parseGraph(text);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(graph).value();
}

constexpr const char* kTwoUses = R"(
input %x: f32[1, s0, 4]
parameter %w: f32[4] "norm.weight"
%y: f32[1, s0, 4] = aten.mul.Tensor(self=%x, other=%w)
%z: f32[1, s0, 8] = aten.cat.default(tensors=[%y, none, %x], dim=-1)
output %z, %y
)";

TEST(Graph, OperandsAreFoundByNameAndInOrder) {
    const Graph graph = parsed(kTwoUses);
    const Node& cat = graph.node(1);
    const Operands found = operands(cat);
    EXPECT_EQ(std::vector(found.begin(), found.end()), (std::vector<ValueId>{2, 0}));
    EXPECT_EQ(operand(graph.node(0), "other"), 1);
    EXPECT_EQ(operand(graph.node(0), "alpha"), kNone);
    EXPECT_EQ(operand(cat, "dim"), kNone);
    ASSERT_NE(argument(cat, "dim"), nullptr);
    EXPECT_EQ(std::get<SymInt>(*argument(cat, "dim")), SymInt(-1));
}

TEST(Graph, UsersListNodesInOrderAndOutputsLast) {
    const Graph graph = parsed(kTwoUses);
    const Users users(graph);
    ASSERT_EQ(users.of(0).size(), 2U);
    EXPECT_EQ(users.of(0)[0].node, 0);
    EXPECT_EQ(users.of(0)[1].node, 1);
    EXPECT_EQ(users.of(0)[1].argument, 0);
    ASSERT_EQ(users.of(2).size(), 2U);
    EXPECT_EQ(users.of(2)[1].node, kNone);
    EXPECT_EQ(users.of(2)[1].argument, 1);
}

TEST(Graph, InputsAreFoundByValue) {
    const Graph graph = parsed(kTwoUses);
    ASSERT_NE(graph.inputOf(1), nullptr);
    EXPECT_EQ(graph.inputOf(1)->target, "norm.weight");
    EXPECT_EQ(graph.inputOf(2), nullptr);
}

TEST(Graph, AddModuleBringsAncestorsAndFillsInClassNames) {
    Graph graph;
    const std::int32_t mlp = graph.addModule({"model.layers.0.mlp", "LlamaMLP"});
    EXPECT_EQ(graph.modules[0].path, "");
    EXPECT_EQ(graph.modules.size(), 5U);
    EXPECT_EQ(graph.addModule({"model", "LlamaModel"}), 1);
    EXPECT_EQ(graph.modules[1].className, "LlamaModel");
    EXPECT_EQ(graph.addModule({"model.layers.0.mlp", ""}), mlp);
    EXPECT_EQ(graph.modules[static_cast<std::size_t>(mlp)].className, "LlamaMLP");
}

TEST(Graph, LocationsOfNodesWithoutOnesAreEmpty) {
    Graph graph = parsed(kTwoUses);
    EXPECT_EQ(graph.modulePath(0), "");
    EXPECT_EQ(graph.sourceFrame(0), nullptr);
    graph.nodes[0].source = graph.addSource({{"a.py", 1, "forward", ""}, {"b.py", 7, "norm", "x * w"}});
    EXPECT_EQ(graph.addSource({{"a.py", 1, "forward", ""}, {"b.py", 7, "norm", "x * w"}}),
              graph.nodes[0].source);
    EXPECT_EQ(graph.sourceFrame(0)->line, 7);
}

} // namespace
} // namespace workbench
