#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

constexpr std::string_view kBlock = R"(
module "" Model
module "layers.0.mlp.act_fn" SiLUActivation
parameter %wg: f32[96, 32] "layers.0.mlp.gate_proj.weight"
parameter %wu: f32[96, 32] "layers.0.mlp.up_proj.weight"
parameter %wd: f32[32, 96] "layers.0.mlp.down_proj.weight"
input %x: f32[1, s0, 32]
%g: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wg) @"layers.0.mlp"
%act: f32[1, s0, 96] = aten.silu.default(self=%g) @"layers.0.mlp.act_fn"
%u: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wu) @"layers.0.mlp"
%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u) @"layers.0.mlp"
%y: f32[1, s0, 32] = aten.linear.default(input=%m, weight=%wd) @"layers.0.mlp"
output %y
)";

std::string block() {
    return std::string(
               "module \"layers\" ModuleList\nmodule \"layers.0\" Layer\nmodule \"layers.0.mlp\" MLP\n") +
           std::string(kBlock);
}

std::string gateRefusal(std::string_view from, std::string_view to) {
    return refusal(canonical(changed(block(), from, to)), "gate-up");
}

TEST(GateUp, MergesProjectionsAndActivation) {
    EXPECT_EQ(
        rewritten(canonical(block())),
        R"(parameter %p_layers_0_mlp_gate_up_proj_weight: f32[192, 32] "layers.0.mlp.gate_up_proj.weight" = cat(0, "layers.0.mlp.gate_proj.weight", "layers.0.mlp.up_proj.weight")
parameter %wd: f32[32, 96] "layers.0.mlp.down_proj.weight"
input %x: f32[1, s0, 32]
%g_merged: f32[1, s0, 192] = aten.linear.default(input=%x, weight=%p_layers_0_mlp_gate_up_proj_weight)
%m: f32[1, s0, 96] = workbench.act_and_mul(gate_up=%g_merged, activation="silu")
%y: f32[1, s0, 32] = aten.linear.default(input=%m, weight=%wd)
output %y
)");
}

TEST(GateUp, SiteIsNamedAfterTheModuleThatMultiplies) {
    EXPECT_EQ(applicable(analyze(canonical(block())), "gate-up"), "gate-up@layers.0.mlp");
}

TEST(GateUp, SwappedOperandsGiveTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(changed(block(), "self=%act, other=%u", "self=%u, other=%act"))),
              rewritten(canonical(block())));
}

TEST(GateUp, AFunctionalActivationGivesTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(changed(block(), "silu.default(self=%g) @\"layers.0.mlp.act_fn\"",
                                          "silu.default(self=%g) @\"layers.0.mlp\""))),
              rewritten(canonical(block())));
}

TEST(GateUp, KnowsEveryActivationWithAKernel) {
    const std::pair<const char*, const char*> activations[] = {
        {"aten.gelu.default(self=%g)", "gelu"},
        {"aten.gelu.default(self=%g, approximate=\"none\")", "gelu"},
        {"aten.gelu.default(self=%g, approximate=\"tanh\")", "gelu_tanh"},
        {"aten.relu.default(self=%g)", "relu"},
        {"aten.sigmoid.default(self=%g)", "sigmoid"}};
    for (const auto& [text, name] : activations) {
        const Graph graph = canonical(changed(block(), "aten.silu.default(self=%g)", text));
        EXPECT_EQ(
            std::get<std::string>(siteOf(analyze(graph), "gate-up@layers.0.mlp").facts.at("activation")),
            name);
    }
}

TEST(GateUp, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(block())), "");
}

TEST(GateUp, RefusesAnActivationWithoutAKernelByName) {
    EXPECT_EQ(gateRefusal("aten.silu.default", "aten.mish.default"),
              "an activation with a kernel: silu, gelu, gelu_tanh, relu or sigmoid; aten.mish.default");
}

TEST(GateUp, EveryActivationOfABlockIsAPlace) {
    const std::string made = "f32[1, s0, 96] = aten.";
    const std::string text =
        changed(block(), "%y: f32[1, s0, 32] = aten.linear.default(input=%m,",
                "%h: " + made + "hardtanh.default(self=%u) @\"layers.0.mlp\"\n%m2: " + made +
                    "mul.Tensor(self=%h, other=%g) @\"layers.0.mlp\"\n%both: " + made +
                    "add.Tensor(self=%m, other=%m2)\n%y: f32[1, s0, 32] = aten.linear.default(input=%both,");
    const Site site = siteOf(analyze(canonical(text)), "gate-up@layers.0.mlp#1");
    ASSERT_TRUE(site.miss.has_value());
    EXPECT_EQ(site.miss->found, "aten.hardtanh.default");
}

TEST(GateUp, RefusesGateAndUpOfOneProjection) {
    EXPECT_EQ(gateRefusal("self=%act, other=%u", "self=%act, other=%g"),
              "gate and up are two projections; aten.linear (%g) is both");
}

TEST(GateUp, RefusesDifferentInputs) {
    EXPECT_EQ(refusal(canonical(changed(changed(block(), "input=%x, weight=%wu", "input=%z, weight=%wu"),
                                        "input %x", "input %z: f32[1, s0, 32]\ninput %x")),
                      "gate-up"),
              "all projections read input %x; input %z");
}

TEST(GateUp, RefusesABiasOnOneOnly) {
    EXPECT_EQ(refusal(canonical(changed(changed(block(), "weight=%wu)", "weight=%wu, bias=%b)"), "input %x",
                                        "parameter %b: f32[96] \"layers.0.mlp.up_proj.bias\"\ninput %x")),
                      "gate-up"),
              "all projections have a bias, or none; a bias only here");
}

TEST(GateUp, RefusesAScaledGate) {
    EXPECT_EQ(gateRefusal("%act: f32[1, s0, 96] = aten.silu.default(self=%g)",
                          "%scaled: f32[1, s0, 96] = aten.mul.Tensor(self=%g, other=1.7) @\"layers.0.mlp\"\n"
                          "%act: f32[1, s0, 96] = aten.silu.default(self=%scaled)"),
              "the activation reads a projection of its own; aten.mul (%scaled)");
}

TEST(GateUp, RefusesAClampedUpValue) {
    EXPECT_EQ(gateRefusal(
                  "%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u)",
                  "%held: f32[1, s0, 96] = aten.clamp.default(self=%u, min=-7.0, max=7.0) @\"layers.0.mlp\"\n"
                  "%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%held)"),
              "the other factor is a projection; aten.clamp (%held)");
}

TEST(GateUp, RefusesAnActivatedValueThatIsReadElsewhere) {
    EXPECT_EQ(gateRefusal("output %y", "output %y, %act"),
              "the activated value is only multiplied by another projection; it has several users");
}

TEST(GateUp, RefusesAProjectionThatIsReadElsewhere) {
    EXPECT_EQ(gateRefusal("output %y", "output %y, %u"),
              "no value inside of the pattern is used elsewhere; aten.linear (%u) is also used by the "
              "graph's outputs");
}

TEST(GateUp, RefusesPackedWeights) {
    const std::string text = changed(changed(changed(block(), "%wg: f32[96, 32]", "%wg: f32[192, 32]"),
                                             "%g: f32[1, s0, 96]", "%gu: f32[1, s0, 192]"),
                                     "%act:",
                                     "%g: f32[1, s0, 96], %u: f32[1, s0, 96] = aten.chunk.default(self=%gu, "
                                     "chunks=2, dim=-1) @\"layers.0.mlp\"\n%act:");
    const std::string packed = changed(
        text, "%u: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wu) @\"layers.0.mlp\"\n", "");
    EXPECT_EQ(refusal(canonical(packed), "gate-up"),
              "the activation reads a projection of its own; aten.slice (%g)");
}

TEST(GateUp, TellsWhyABlockWithoutAGateHasNone) {
    const std::string text = changed(
        changed(block(), "%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u) @\"layers.0.mlp\"\n", ""),
        "input=%m", "input=%act");
    const Analysis analysis = analyze(canonical(text));
    const Site site = siteOf(analysis, "gate-up@layers.0.mlp");
    ASSERT_TRUE(site.miss.has_value());
    EXPECT_EQ(site.miss->found, "it goes into aten.linear.default");
    for (const Coverage& coverage : analysis.coverage)
        if (coverage.pattern == "gate-up") {
            EXPECT_EQ(coverage.places, 1);
            EXPECT_EQ(coverage.found, 0);
        }
}

} // namespace
} // namespace workbench::test
