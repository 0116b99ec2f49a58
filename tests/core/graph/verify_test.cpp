#include "core/graph/text.h"
#include "core/graph/verify.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

Graph sample() {
    return parseGraph("module \"\" Model\nmodule \"norm\" Norm\ninput %x: f32[2]\n%y: f32[2] = "
                      "aten.neg.default(self=%x) @\"norm\"\n"
                      "%z: f32[2] = aten.add.Tensor(self=%y, other=%x)\noutput %z\n")
        .value();
}

std::string problemOf(const Graph& graph) {
    const Status status = verify(graph);
    return status ? "none" : status.error().message;
}

TEST(Verify, AcceptsAGoodGraph) {
    EXPECT_EQ(problemOf(sample()), "none");
}

TEST(Verify, NamesTheNodeThatUsesAValueBeforeItIsMade) {
    Graph graph = sample();
    std::swap(graph.nodes[0], graph.nodes[1]);
    graph.values[1].producer = 1;
    graph.values[2].producer = 0;
    EXPECT_EQ(problemOf(graph),
              "The graph is inconsistent: node 0 'z' (aten.add.Tensor) uses 'y' before it is made.");
}

TEST(Verify, FindsDuplicateNames) {
    Graph graph = sample();
    graph.values[2].name = "y";
    EXPECT_NE(problemOf(graph).find("'y' is used twice"), std::string::npos);
}

TEST(Verify, FindsWrongProducers) {
    Graph graph = sample();
    graph.values[1].producer = 1;
    EXPECT_NE(problemOf(graph).find("'y' names another producer than node 0"), std::string::npos);
}

TEST(Verify, FindsValuesThatNothingMakes) {
    Graph graph = sample();
    graph.addValue("orphan", {});
    EXPECT_NE(problemOf(graph).find("nothing makes the value 'orphan'"), std::string::npos);
}

TEST(Verify, FindsIndicesOutOfRange) {
    Graph graph = sample();
    graph.nodes[1].arguments[0].value = ValueRef{99};
    EXPECT_NE(problemOf(graph).find("a value that does not exist"), std::string::npos);
    graph = sample();
    graph.nodes[1].module = 5;
    EXPECT_NE(problemOf(graph).find("a module or source that does not exist"), std::string::npos);
    graph = sample();
    graph.outputs.push_back(77);
    EXPECT_NE(problemOf(graph).find("an output of the graph"), std::string::npos);
}

TEST(Verify, FindsMissingAncestors) {
    Graph graph = sample();
    graph.modules.push_back({"a.b", "B"});
    EXPECT_NE(problemOf(graph).find("the parent of module 'a.b' is missing"), std::string::npos);
}

} // namespace
} // namespace workbench
