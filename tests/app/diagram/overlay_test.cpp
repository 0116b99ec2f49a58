#include "app/diagram/overlay.h"
#include "tests/app/diagram/layered_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace workbench {
namespace {

TEST(Overlay, WeightsOfAModuleAreTheSumOfItsNodes) {
    const DrawnModel model = layeredModel(std::vector<int>(12, 2));
    const Overlay overlay = weightBytes(model.graph);
    const Diagram diagram = buildDiagram(model.graph, model.tree, {.scope = "model"});
    EXPECT_EQ(totalOf(overlay, diagram.boxes[0]), 50 * 8 * 4);     // the embedding
    EXPECT_EQ(totalOf(overlay, diagram.boxes[1]), 12 * 8 * 8 * 4); // all layers
    EXPECT_EQ(largestTotal(overlay, diagram), 12 * 8 * 8 * 4);
}

TEST(Overlay, AWeightOfTwoNodesCountsOnce) {
    const DrawnModel model = drawn(R"(input %x: f32[2, 2]
parameter %w: f32[2, 2] "w"
%a: f32[2, 2] = aten.linear.default(input=%x, weight=%w)
%b: f32[2, 2] = aten.linear.default(input=%a, weight=%w)
output %b
)");
    const Overlay overlay = weightBytes(model.graph);
    EXPECT_EQ(overlay.perNode[0], 16);
    EXPECT_TRUE(std::isnan(overlay.perNode[1]));
}

TEST(Overlay, ANodeWithoutANumberIsNotZero) {
    Overlay overlay{"error", "", {std::numeric_limits<double>::quiet_NaN(), 3, 1}, Overlay::Total::max};
    Box box;
    box.nodes = {0};
    EXPECT_TRUE(std::isnan(totalOf(overlay, box)));
    box.nodes = {0, 1, 2};
    EXPECT_EQ(totalOf(overlay, box), 3);
}

TEST(Overlay, NumbersOfSitesCountOncePerSite) {
    const DrawnModel model = layeredModel({2});
    Analysis analysis;
    Site site;
    site.nodes = {1, 2};
    analysis.sites.push_back(site);
    const Overlay overlay =
        siteNumbers("gain", "ms", Overlay::Total::sum, model.graph, analysis, {{0, 0.5}}, nullptr);
    Box box;
    box.nodes = {0, 1, 2, 3};
    EXPECT_EQ(totalOf(overlay, box), 0.5);
    EXPECT_EQ(overlayText(overlay, 0.5), "0.5 ms");
}

TEST(Overlay, NumbersByNameStandAtTheNodesThatMakeTheValues) {
    const DrawnModel model = layeredModel({2});
    const std::string first = model.graph.value(model.graph.nodes[0].outputs[0]).name;
    const Overlay overlay =
        nodeNumbers("time", "ms", Overlay::Total::sum, model.graph, {{first, 0.5}, {"of another graph", 7}});
    EXPECT_EQ(overlay.perNode[0], 0.5);
    EXPECT_TRUE(std::isnan(overlay.perNode[1]));
}

TEST(Overlay, BytesAreWrittenWithTheirUnit) {
    const Overlay overlay{"weights", "B", {}, Overlay::Total::sum};
    EXPECT_EQ(overlayText(overlay, 512), "512 B");
    EXPECT_EQ(overlayText(overlay, 7.5 * 1024 * 1024), "7.5 MiB");
    EXPECT_EQ(overlayText(overlay, 1023.9 * 1024), "1.0 MiB");
}

} // namespace
} // namespace workbench
