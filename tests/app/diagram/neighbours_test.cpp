#include "app/diagram/neighbours.h"
#include "app/diagram/siblings.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using Boxes = std::vector<std::int32_t>;

Box boxWith(Box::Kind kind, std::int32_t parent, std::vector<NodeId> nodes) {
    Box box;
    box.kind = kind;
    box.parent = parent;
    box.node = kind == Box::Kind::node ? nodes.front() : kNone;
    box.nodes = std::move(nodes);
    return box;
}

/// in (0) -> [ module (1): a (2) -> b (3) ] -> out (4), with a weight (5) beside a
/// and a copy of in (6) beside out
Diagram nested() {
    Diagram diagram;
    diagram.boxes = {boxWith(Box::Kind::node, -1, {0}), boxWith(Box::Kind::module, -1, {1, 2}),
                     boxWith(Box::Kind::node, 1, {1}), boxWith(Box::Kind::node, 1, {2}),
                     boxWith(Box::Kind::node, -1, {3})};
    diagram.boxes[1].expanded = true;
    Box weight, copy;
    weight.kind = copy.kind = Box::Kind::value;
    weight.role = Box::Role::parameter;
    weight.beside = 2;
    copy.role = Box::Role::copy;
    copy.beside = 4;
    copy.node = 0;
    diagram.boxes.push_back(weight);
    diagram.boxes.push_back(copy);
    diagram.edges = {{0, 2, 0, "", 1}, {2, 3, 1, "", 1}, {3, 4, 2, "", 1}};
    return diagram;
}

TEST(Neighbours, FollowTheEdges) {
    const Neighbours neighbours(nested());
    EXPECT_EQ(neighbours.producers(3), Boxes{2});
    EXPECT_EQ(neighbours.consumers(3), Boxes{4});
}

TEST(Neighbours, OfAnOpenedModuleAreOutsideOfIt) {
    const Neighbours neighbours(nested());
    EXPECT_EQ(neighbours.producers(1), (Boxes{0, 5}))
        << "the weight stands for itself, beside the module's node";
    EXPECT_EQ(neighbours.consumers(1), Boxes{4});
}

TEST(Neighbours, WeightsFeedTheBoxTheyStandBeside) {
    const Neighbours neighbours(nested());
    EXPECT_EQ(neighbours.producers(2), (Boxes{0, 5}));
    EXPECT_EQ(neighbours.consumers(5), Boxes{2});
}

TEST(Neighbours, ACopyLeadsFromTheMakerToTheUser) {
    const Neighbours neighbours(nested());
    EXPECT_EQ(neighbours.consumers(0), (Boxes{2, 6}));
    EXPECT_EQ(neighbours.producers(6), Boxes{0});
    EXPECT_EQ(neighbours.consumers(6), Boxes{4});
}

TEST(Neighbours, ABoxIsInsideItselfAndWhatContainsIt) {
    const Diagram diagram = nested();
    EXPECT_TRUE(isInside(diagram, 3, 1));
    EXPECT_TRUE(isInside(diagram, 3, 3));
    EXPECT_FALSE(isInside(diagram, 4, 1));
    EXPECT_FALSE(isInside(diagram, 0, 1));
}

TEST(Siblings, TheInnermostNumberCounts) {
    Graph graph;
    for (const char* path : {"", "h.0", "h.1", "h.1.mlps.0", "h.1.mlps.1", "h.0.attn", "h.1.attn"})
        graph.addModule({path, "M"});
    EXPECT_EQ(siblingOf(graph, "h.0", 1), "h.1");
    EXPECT_EQ(siblingOf(graph, "h.1.attn", -1), "h.0.attn");
    EXPECT_EQ(siblingOf(graph, "h.1.mlps.0", 1), "h.1.mlps.1");
    EXPECT_EQ(siblingOf(graph, "h.1.mlps.1", 1), "");
    EXPECT_EQ(siblingOf(graph, "h.1", 1), "");
    EXPECT_EQ(siblingOf(graph, "", 1), "");
}

} // namespace
} // namespace workbench
