#include "app/session/inspection.h"
#include "core/graph/text.h"
#include "fusion/fusion.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

constexpr const char* kText = R"(module "" Model
module "layers" ModuleList
module "layers.0" Layer
module "layers.0.mlp" MLP
module "layers.0.mlp.act_fn" SiLU
module "layers.01" Other
parameter %wg: bf16[96, 32] "layers.0.mlp.gate_proj.weight"
parameter %wu: bf16[96, 32] "layers.0.mlp.up_proj.weight"
parameter %other: f32[8] "layers.01.weight"
input %x: bf16[1, s0, 32]
%g: bf16[1, s0, 96] = aten.linear.default(input=%x, weight=%wg, bias=none) @"layers.0.mlp" from "modeling.py":12 forward
%act: bf16[1, s0, 96] = aten.silu.default(self=%g) @"layers.0.mlp.act_fn"
%u: bf16[1, s0, 96] = aten.linear.default(input=%x, weight=%wu, bias=none) @"layers.0.mlp"
%m: bf16[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u) @"layers.0.mlp"
%z: f32[8] = aten.mul.Tensor(self=%other, other=2.5) @"layers.01"
output %m, %z
)";

class Inspecting : public testing::Test {
protected:
    Inspecting()
        : m_graph(parseGraph(kText).value()), m_analysis(analyze(m_graph)),
          m_inspection(m_graph, m_analysis) {}
    Graph m_graph;
    Analysis m_analysis;
    Inspection m_inspection;
};

TEST_F(Inspecting, ANodeKnowsWhatItReadsAndWhoReadsIt) {
    const InspectedNode node = m_inspection.node(0);
    ASSERT_EQ(node.inputs.size(), 2u);
    EXPECT_EQ(node.inputs[0].argument, "input");
    EXPECT_EQ(node.inputs[0].producer, kNone);
    EXPECT_EQ(node.inputs[0].users, (std::vector<NodeId>{2})) << "other users than the node itself";
    ASSERT_NE(node.inputs[1].input, nullptr);
    EXPECT_EQ(node.inputs[1].input->target, "layers.0.mlp.gate_proj.weight");
    EXPECT_EQ(node.inputs[1].storedBytes, 96 * 32 * 2);
    ASSERT_EQ(node.outputs.size(), 1u);
    EXPECT_EQ(node.outputs[0].users, (std::vector<NodeId>{1}));
    EXPECT_FALSE(node.outputs[0].isResult);
    EXPECT_TRUE(m_inspection.node(3).outputs[0].isResult);
}

TEST_F(Inspecting, ANodeKnowsItsModulesAttributesSourceAndSites) {
    const InspectedNode node = m_inspection.node(1);
    ASSERT_EQ(node.modules.size(), 5u);
    EXPECT_EQ(node.modules.front().className, "Model");
    EXPECT_EQ(node.modules.back().path, "layers.0.mlp.act_fn");
    EXPECT_EQ(m_inspection.node(4).attributes,
              (std::vector<std::pair<std::string, std::string>>{{"other", "2.5"}}));
    ASSERT_NE(m_inspection.node(0).source, nullptr);
    EXPECT_EQ(m_inspection.node(0).source->back().line, 12);
    EXPECT_EQ(node.source, nullptr);
    ASSERT_EQ(node.sites.size(), 1u);
    EXPECT_EQ(m_analysis.sites[node.sites[0]].id, "gate-up@layers.0.mlp");
    EXPECT_TRUE(m_inspection.node(4).sites.empty());
}

TEST_F(Inspecting, AModuleCountsWhatIsBelowItAndNothingBeside) {
    const InspectedModule module = m_inspection.module("layers.0");
    EXPECT_EQ(module.module.className, "Layer");
    EXPECT_EQ(module.nodes, 4);
    EXPECT_EQ(module.parameterCount, 2 * 96 * 32);
    EXPECT_EQ(module.parameterBytes, 2 * 96 * 32 * 2);
    ASSERT_EQ(module.children.size(), 1u);
    EXPECT_EQ(module.children[0].path, "layers.0.mlp");
    ASSERT_FALSE(module.ops.empty());
    EXPECT_EQ(module.ops[0], (std::pair<std::string, std::int64_t>{"aten.linear.default", 2}));
    EXPECT_EQ(module.sites.size(), 1u);
}

TEST_F(Inspecting, TheModelHoldsEverything) {
    const InspectedModule model = m_inspection.module("");
    EXPECT_EQ(model.nodes, 5);
    EXPECT_EQ(model.parameters.size(), 3u);
    EXPECT_EQ(model.module.className, "Model");
}

TEST_F(Inspecting, AnUnknownModuleIsEmpty) {
    const InspectedModule module = m_inspection.module("layers.7");
    EXPECT_EQ(module.nodes, 0);
    EXPECT_TRUE(module.parameters.empty());
}

} // namespace
} // namespace workbench
