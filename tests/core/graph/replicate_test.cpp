#include "core/graph/compare.h"
#include "core/graph/replicate.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

Graph parsed(const std::string& text) {
    Result<Graph> graph = parseGraph(text);
    EXPECT_TRUE(graph) << graph.error().message;
    return std::move(graph).value();
}

constexpr const char* kHead = R"(
parameter %p_embed: f32[97, 8] "model.embed.weight"
)";
constexpr const char* kUserInputs = R"(
input %ids: i64[1, s0]
input %positions: i64[1, s0]
%x: f32[1, s0, 8] = aten.embedding.default(weight=%p_embed, indices=%ids) @"model.embed"
%angles: f32[1, s0, 4] = aten.cos.default(self=%x) @"model.rotary"
)";

std::string parameters(int layer) {
    const std::string i = std::to_string(layer);
    return "parameter %p_model_layers_" + i + "_norm_weight: f32[8] \"model.layers." + i +
           ".norm.weight\"\n" + "parameter %p_model_layers_" + i + "_proj_weight: f32[8, 8] \"model.layers." +
           i + ".proj.weight\"\n";
}

/// One decoder layer: norm, attention with rotary angles, projection, residual.
std::string layer(int number, const std::string& hidden) {
    const std::string i = std::to_string(number);
    const std::string at = " @\"model.layers." + i;
    return "%n" + i + ": f32[1, s0, 8] = aten.mul.Tensor(self=%" + hidden + ", other=%p_model_layers_" + i +
           "_norm_weight)" + at + ".norm\" from \"m.py\":10 forward\n" + "%a" + i +
           ": f32[1, s0, 8] = workbench.attention(query=%n" + i + ", key=%n" + i + ", value=%n" + i +
           ", positions=%positions, layer=" + i + ", slopes=%angles)" + at +
           ".attn\" from \"m.py\":20 forward\n" + "%o" + i +
           ": f32[1, s0, 8] = aten.linear.default(input=%a" + i + ", weight=%p_model_layers_" + i +
           "_proj_weight)" + at + ".proj\"\n" + "%y" + i + ": f32[1, s0, 8] = aten.add.Tensor(self=%" +
           hidden + ", other=%o" + i + ")" + at + "\" from \"m.py\":30 forward\n";
}

std::string model(int layers) {
    std::string text = kHead;
    for (int i = 0; i < layers; ++i)
        text += parameters(i);
    text += "parameter %p_head: f32[97, 8] \"head.weight\"\n";
    text += kUserInputs;
    for (int i = 0; i < layers; ++i)
        text += layer(i, i == 0 ? "x" : "y" + std::to_string(i - 1));
    return text + "%logits: f32[1, s0, 97] = aten.linear.default(input=%y" + std::to_string(layers - 1) +
           ", weight=%p_head) @\"head\"\noutput %logits\n";
}

std::string problemOf(const Graph& cut, const LayerPlan& plan) {
    const Result<Graph> whole = replicateLayers(cut, plan);
    return whole ? "none" : whole.error().message;
}

TEST(Replicate, OneTracedLayerGivesTheWholeModel) {
    const Graph whole = replicateLayers(parsed(model(1)), {"model.layers", 4, {0, 0, 0, 0}}).value();
    EXPECT_EQ(firstDifference(whole, parsed(model(4))), std::nullopt);
}

TEST(Replicate, TwoTracedLayersGiveTheWholeModel) {
    const Graph whole = replicateLayers(parsed(model(2)), {"model.layers", 5, {0, 1, 0, 1, 1}}).value();
    EXPECT_EQ(firstDifference(whole, parsed(model(5))), std::nullopt);
}

TEST(Replicate, ATracedLayerMayBeReplacedByACopyOfAnother) {
    const Graph whole = replicateLayers(parsed(model(3)), {"model.layers", 3, {0, 0, 2}}).value();
    EXPECT_EQ(firstDifference(whole, parsed(model(3))), std::nullopt);
}

TEST(Replicate, FewerLayersThanTracedCanBeKept) {
    const Graph whole = replicateLayers(parsed(model(3)), {"model.layers", 2, {0, 1}}).value();
    EXPECT_EQ(firstDifference(whole, parsed(model(2))), std::nullopt);
}

TEST(Replicate, NamesAreDeterministicAndTheOnesTracedStay) {
    const Graph cut = parsed(model(1));
    const LayerPlan plan{"model.layers", 3, {0, 0, 0}};
    const std::string text = print(replicateLayers(cut, plan).value());
    EXPECT_EQ(text, print(replicateLayers(cut, plan).value()));
    EXPECT_NE(text.find("%y0: "), std::string::npos);
    EXPECT_NE(
        text.find("%y0_l2: f32[1, s0, 8] = aten.add.Tensor(self=%y0_l1, other=%o0_l2) @\"model.layers.2\""),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("parameter %p_model_layers_2_proj_weight: f32[8, 8] \"model.layers.2.proj.weight\""),
              std::string::npos)
        << text;
}

TEST(Replicate, DifferentWholesAreToldApart) {
    const Graph whole = replicateLayers(parsed(model(1)), {"model.layers", 3, {0, 0, 0}}).value();
    EXPECT_EQ(firstDifference(whole, parsed(model(4))),
              "input 'model.layers.3.norm.weight' is only in the second graph");
    std::string other = model(3);
    other.replace(other.find("layer=2"), 7, "layer=1");
    EXPECT_EQ(firstDifference(whole, parsed(other)),
              "node 11 (workbench.attention 'a0_l2'): argument 'layer'");
}

TEST(Replicate, RefusesALayerWithTwoOutgoingValues) {
    std::string text = model(1);
    text.replace(text.find("output"), 6, "output %a0,");
    EXPECT_EQ(problemOf(parsed(text), {"model.layers", 2, {0, 0}}),
              "The layers of model.layers cannot be copied: layer 0 gives two values to others, 'a0' and "
              "'y0'; trace the whole model instead.");
}

TEST(Replicate, RefusesNodesOfOthersAmongAndBetweenLayers) {
    std::string among = model(1);
    among.insert(among.find("%o0:"), "%z: f32[1, s0, 8] = aten.neg.default(self=%x) @\"model\"\n");
    EXPECT_NE(problemOf(parsed(among), {"model.layers", 2, {0, 0}})
                  .find("node 'z' (aten.neg.default) of another module lies among"),
              std::string::npos);
    std::string between = model(2);
    between.insert(between.find("%n1:"), "%z: f32[1, s0, 8] = aten.neg.default(self=%x) @\"model\"\n");
    EXPECT_NE(problemOf(parsed(between), {"model.layers", 4, {0, 1, 0, 1}})
                  .find("node 'z' (aten.neg.default) lies between layer 0 and layer 1"),
              std::string::npos);
}

TEST(Replicate, RefusesAHiddenStateThatCannotBeToldFromOthers) {
    std::string text = model(1);
    const std::string narrow = "%angles: f32[1, s0, 4]";
    text.replace(text.find(narrow), narrow.size(), "%angles: f32[1, s0, 8]");
    EXPECT_NE(
        problemOf(parsed(text), {"model.layers", 2, {0, 0}}).find("its hidden state may be 'x' or 'angles'"),
        std::string::npos);
}

TEST(Replicate, RefusesAResultThatSkipsALayer) {
    std::string text = model(2);
    text.replace(text.find("input=%y1"), 9, "input=%y0");
    EXPECT_NE(problemOf(parsed(text), {"model.layers", 3, {0, 1, 1}}).find("cannot be copied"),
              std::string::npos);
}

TEST(Replicate, RefusesAWrongPlan) {
    const Graph cut = parsed(model(1));
    EXPECT_NE(problemOf(cut, {"model.layers", 2, {0, 1}}).find("refers to traced layer 1, and 1 were traced"),
              std::string::npos);
    EXPECT_NE(problemOf(cut, {"model.layers", 3, {0, 0}}).find("lists 2 of 3 layers"), std::string::npos);
    EXPECT_NE(problemOf(cut, {"model.blocks", 1, {0}}).find("the trace has no node of them"),
              std::string::npos);
}

} // namespace
} // namespace workbench
