#include "tests/fusion/support/experts.h"
#include "tests/fusion/support/graphs.h"

#include <utility>
#include <vector>

namespace workbench::test {
namespace {

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

std::string experts(const Changes& changes = {}) {
    std::string text(kExperts);
    for (const auto& [from, to] : changes)
        text = changed(std::move(text), from, to);
    return text;
}

std::string moeRefusal(const Changes& changes) {
    return refusal(canonical(experts(changes)), "moe");
}

TEST(Moe, ExpertsBecomeOneOp) {
    EXPECT_EQ(rewrittenBy(canonical(kExperts), "moe"),
              R"(parameter %wr: bf16[6, 8] "mlp.gate.weight"
parameter %gu: bf16[6, 8, 8] "mlp.experts.gate_up_proj"
parameter %dn: bf16[6, 8, 4] "mlp.experts.down_proj"
input %x: bf16[s0, 8]
%logits: bf16[s0, 6] = aten.linear.default(input=%x, weight=%wr)
%probs: f32[s0, 6] = aten.softmax.int(self=%logits, dim=1, dtype=dtype:f32)
%top: f32[s0, 2], %chosen: i64[s0, 2] = aten.topk.default(self=%probs, k=2)
%total: f32[s0, 1] = aten.sum.dim_IntList(self=%top, dim=[-1], keepdim=true)
%share: f32[s0, 2] = aten.div.Tensor(self=%top, other=%total)
%weights: bf16[s0, 2] = aten._to_copy.default(self=%share, dtype=dtype:bf16)
%y: bf16[s0, 8] = workbench.moe_experts(hidden=%x, routing_weights=%weights, indices=%chosen, gate_up=%gu, down=%dn, activation="silu")
output %y
)");
}

TEST(Moe, SiteIsNamedAfterTheExpertsAndSaysWhatTheyAre) {
    const Site site = siteOf(analyze(canonical(kExperts)), "moe@mlp.experts");
    EXPECT_EQ(std::get<std::int64_t>(site.facts.at("experts")), 6);
    EXPECT_EQ(std::get<std::int64_t>(site.facts.at("top_k")), 2);
    EXPECT_EQ(std::get<std::string>(site.facts.at("activation")), "silu");
    EXPECT_EQ(site.parameters,
              (std::vector<std::string>{"mlp.experts.gate_up_proj", "mlp.experts.down_proj"}));
}

TEST(Moe, NamesOfModulesDoNotMatter) {
    const Graph graph = canonical(experts(
        {{"mlp.experts.gate_up_proj", "a"}, {"mlp.experts.down_proj", "b"}, {"mlp.experts", "mlp.other"}}));
    EXPECT_EQ(applicable(analyze(graph), "moe"), "moe@mlp.other");
}

TEST(Moe, SwappedOperandsGiveTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(experts({{"self=%act, other=%up", "self=%up, other=%act"},
                                           {"self=%out, other=%wcol", "self=%wcol, other=%out"}}))),
              rewritten(canonical(kExperts)));
}

TEST(Moe, TokensThatAreSpreadAndFoldedGiveTheSameGraph) {
    EXPECT_EQ(
        rewritten(canonical(experts(
            {{"%rep: bf16[2*s0, 8] = aten.repeat_interleave.self_int(self=%x, repeats=2, dim=0)",
              "%one: bf16[s0, 1, 8] = aten.unsqueeze.default(self=%x, dim=1) @\"mlp.experts\"\n"
              "%wide: bf16[s0, 2, 8] = aten.expand.default(self=%one, size=[-1, 2, -1]) @\"mlp.experts\"\n"
              "%rep: bf16[2*s0, 8] = aten.reshape.default(self=%wide, shape=[-1, 8])"}}))),
        rewritten(canonical(kExperts)));
}

TEST(Moe, ColumnsThatAreReshapedGiveTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(experts(
                  {{"aten.unsqueeze.default(self=%gated, dim=-1)",
                    "aten.view.default(self=%gated, size=[-1, 4, 1])"},
                   {"aten.squeeze.dim(self=%bmm2, dim=-1)", "aten.view.default(self=%bmm2, size=[-1, 8])"},
                   {"aten.unsqueeze.default(self=%wflat, dim=-1)",
                    "aten.view.default(self=%wflat, size=[-1, 1])"}}))),
              rewritten(canonical(kExperts)));
}

TEST(Moe, RoutingWeightsMayStayInFloat32UntilTheSum) {
    const Graph graph =
        canonical(experts({{"%weights: bf16[s0, 2] = aten._to_copy.default(self=%share, dtype=dtype:bf16)",
                            "%weights: f32[s0, 2] = aten.mul.Tensor(self=%share, other=2.5)"},
                           {"%wflat: bf16", "%wflat: f32"},
                           {"%wcol: bf16", "%wcol: f32"},
                           {"%weighted: bf16", "%weighted: f32"},
                           {"%grouped: bf16", "%grouped: f32"},
                           {"%y: bf16", "%sum: f32"},
                           {"output %y", "%y: bf16[s0, 8] = aten._to_copy.default(self=%sum, "
                                         "dtype=dtype:bf16) @\"mlp.experts\"\noutput %y"}}));
    EXPECT_NE(
        rewritten(graph).find("%y: bf16[s0, 8] = workbench.moe_experts(hidden=%x, routing_weights=%weights,"),
        std::string::npos);
}

TEST(Moe, RoutingMayComeFromAnywhere) {
    const Graph graph =
        canonical(experts({{"self=%weights, size=[-1]", "self=%w, size=[-1]"},
                           {"self=%chosen, size=[-1]", "self=%i, size=[-1]"},
                           {"input %x", "input %w: bf16[s0, 2]\ninput %i: i64[s0, 2]\ninput %x"}}));
    EXPECT_EQ(applicable(analyze(graph), "moe"), "moe@mlp.experts");
}

TEST(Moe, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kExperts)), "");
}

TEST(Moe, CoverageCountsChoicesOfExperts) {
    for (const Coverage& coverage : analyze(canonical(kExperts)).coverage)
        if (coverage.pattern == "moe" || coverage.pattern == "moe-router") {
            EXPECT_EQ(coverage.found, 1);
            EXPECT_EQ(coverage.places, 1);
        }
}

TEST(Moe, CoverageCountsWhatTheMatcherRefuses) {
    const Analysis analysis = analyze(canonical(experts({{"aten.silu.default", "aten.mish.default"}})));
    for (const Coverage& coverage : analysis.coverage)
        if (coverage.pattern == "moe") {
            EXPECT_EQ(coverage.found, 0);
            EXPECT_EQ(coverage.places, 1);
        }
}

TEST(Moe, RefusesASumOverAnotherDim) {
    EXPECT_EQ(moeRefusal({{"%y: bf16[s0, 8] = aten.sum.dim_IntList(self=%grouped, dim=[1])",
                           "%y: bf16[s0, 2] = aten.sum.dim_IntList(self=%grouped, dim=[2])"}}),
              "the outputs of a token's k experts are summed; aten.sum (%y) over dim 2");
}

TEST(Moe, RefusesAMean) {
    EXPECT_EQ(moeRefusal({{"aten.sum.dim_IntList(self=%grouped", "aten.mean.dim(self=%grouped"}}),
              "the outputs of a token's k experts are summed; aten.mean (%y) over dim 1");
}

TEST(Moe, RefusesASecondWeightThatOtherIndicesPick) {
    const Analysis analysis = analyze(
        canonical(experts({{"%pick2: bf16[2*s0, 8, 4] = aten.index.Tensor(self=%dn, indices=[%ids])",
                            "%other: i64[2*s0] = aten.flip.default(self=%ids, dims=[0]) @\"mlp.experts\"\n"
                            "%pick2: bf16[2*s0, 8, 4] = aten.index.Tensor(self=%dn, indices=[%other])"}})));
    EXPECT_EQ(applicable(analysis, "moe"), "");
    const Site site = siteOf(analysis, "moe@mlp.experts");
    EXPECT_EQ(site.miss->expected, "both products are of the experts that the same indices choose");
    EXPECT_EQ(site.miss->found, "aten.flip (%other)");
}

TEST(Moe, RefusesWeightsOfAnotherChoiceThanTheIndices) {
    EXPECT_EQ(moeRefusal({{"aten.view.default(self=%weights, size=[-1])",
                           "aten.view.default(self=%turned, size=[-1])"},
                          {"%rep: bf16", "%turned: bf16[2, s0] = aten.transpose.int(self=%weights, dim0=0, "
                                         "dim1=1) @\"mlp.experts\"\n%rep: bf16"}}),
              "the weighted outputs are grouped by token, [tokens, k, hidden], as the weights are; "
              "aten.reshape (%grouped); weights aten.transpose (%turned) [2, s0]");
}

TEST(Moe, RefusesTokensThatAreRepeatedAsAWhole) {
    EXPECT_EQ(moeRefusal({{"aten.repeat_interleave.self_int(self=%x, repeats=2, dim=0)",
                           "aten.repeat.default(self=%x, repeats=[2, 1])"}}),
              "each token is repeated once for each of its k experts; aten.repeat (%rep)");
}

TEST(Moe, RefusesGateAndUpSwapped) {
    EXPECT_EQ(moeRefusal({{"aten.silu.default(self=%gate)", "aten.silu.default(self=%up)"},
                          {"self=%act, other=%up", "self=%act, other=%gate"}}),
              "the first half goes into an activation with a kernel: silu, gelu, gelu_tanh, relu or sigmoid; "
              "aten.mul (%gated)");
}

TEST(Moe, RefusesInterleavedGateAndUp) {
    EXPECT_EQ(
        moeRefusal({{"%gate: bf16[2*s0, 4], %up: bf16[2*s0, 4] = aten.split.Tensor(self=%both, split_size=4, "
                     "dim=-1)",
                     "%gate: bf16[2*s0, 4] = aten.slice.Tensor(self=%both, dim=1, start=0, end=8, step=2) "
                     "@\"mlp.experts\"\n"
                     "%up: bf16[2*s0, 4] = aten.slice.Tensor(self=%both, dim=1, start=1, end=8, step=2)"}}),
        "the first product is read as two halves, gate and up; aten.slice (%gate) and 1 more");
}

TEST(Moe, RefusesABias) {
    EXPECT_EQ(
        moeRefusal({{"%both: bf16[2*s0, 8] = aten.squeeze.dim(self=%bmm, dim=-1)",
                     "%flat: bf16[2*s0, 8] = aten.squeeze.dim(self=%bmm, dim=-1) @\"mlp.experts\"\n"
                     "%pickb: bf16[2*s0, 8] = aten.index.Tensor(self=%b, indices=[%ids]) @\"mlp.experts\"\n"
                     "%both: bf16[2*s0, 8] = aten.add.Tensor(self=%flat, other=%pickb)"},
                    {"input %x", "parameter %b: bf16[6, 8] \"mlp.experts.bias\"\ninput %x"}}),
        "the first product is read as two halves, gate and up; aten.add (%both)");
}

TEST(Moe, RefusesAClampedGate) {
    EXPECT_EQ(moeRefusal({{"%act: bf16[2*s0, 4] = aten.silu.default(self=%gate)",
                           "%held: bf16[2*s0, 4] = aten.clamp.default(self=%gate, max=7.0) @\"mlp.experts\"\n"
                           "%act: bf16[2*s0, 4] = aten.silu.default(self=%held)"}}),
              "the first half goes into an activation with a kernel: silu, gelu, gelu_tanh, relu or sigmoid; "
              "aten.clamp (%held)");
}

TEST(Moe, RefusesWeightsThatAreStoredTheOtherWay) {
    EXPECT_EQ(moeRefusal({{"%col: bf16[2*s0, 8, 1] = aten.unsqueeze.default(self=%rep, dim=-1)",
                           "%col: bf16[2*s0, 1, 8] = aten.unsqueeze.default(self=%rep, dim=1)"},
                          {"%bmm: bf16[2*s0, 8, 1] = aten.bmm.default(self=%pick, mat2=%col)",
                           "%bmm: bf16[2*s0, 1, 8] = aten.bmm.default(self=%col, mat2=%pick)"},
                          {"aten.squeeze.dim(self=%bmm, dim=-1)", "aten.squeeze.dim(self=%bmm, dim=1)"}}),
              "the weights are [experts, outputs, inputs] and stand left of a column; aten.unsqueeze (%col) "
              "stands left");
}

TEST(Moe, RefusesIndicesThatAreClampedForExpertParallelism) {
    EXPECT_EQ(moeRefusal({{"%ids: i64[2*s0] = aten.view.default(self=%chosen, size=[-1])",
                           "%far: i64[2*s0] = aten.view.default(self=%chosen, size=[-1]) @\"mlp.experts\"\n"
                           "%ids: i64[2*s0] = aten.clamp.default(self=%far, min=0, max=5)"}}),
              "the indices come as they are from [tokens, k], as the weights do; aten.clamp (%ids) [2*s0], "
              "weights aten._to_copy (%weights) [s0, 2]");
}

TEST(Moe, RefusesIndicesThatTheKernelDoesNotTake) {
    EXPECT_EQ(moeRefusal({{"%ids: i64[2*s0] = aten.view.default(self=%chosen, size=[-1])",
                           "%far: i64[2*s0] = aten.view.default(self=%chosen, size=[-1]) @\"mlp.experts\"\n"
                           "%ids: i32[2*s0] = aten._to_copy.default(self=%far, dtype=dtype:i32)"}}),
              "the indices are of 64 bits; i32");
}

TEST(Moe, RefusesANormAfterTheExperts) {
    EXPECT_EQ(moeRefusal({{"%wcol: bf16", "%norm: bf16[2*s0, 8] = aten.rms_norm.default(input=%out, "
                                          "normalized_shape=[8]) @\"mlp.experts\"\n%wcol: bf16"},
                          {"self=%out, other=%wcol", "self=%norm, other=%wcol"}}),
              "an expert's output is only multiplied by one routing weight; aten.rms_norm (%norm)");
}

TEST(Moe, RefusesAWeightThatIsComputed) {
    EXPECT_EQ(moeRefusal({{"%pick2: bf16[2*s0, 8, 4] = aten.index.Tensor(self=%dn,",
                           "%twice: bf16[6, 8, 4] = aten.mul.Tensor(self=%dn, other=2.0) "
                           "@\"mlp.experts\"\n%pick2: bf16[2*s0, 8, 4] = aten.index.Tensor(self=%twice,"}}),
              "the experts' weights are one 3-D parameter; aten.mul (%twice)");
}

TEST(Moe, RefusesAValueThatIsReadElsewhere) {
    EXPECT_EQ(moeRefusal({{"output %y", "output %y, %out"}}),
              "an expert's output is only multiplied by one routing weight; aten.mul (%weighted) and 1 more");
}

TEST(Moe, RefusesASumInAnotherDtype) {
    EXPECT_EQ(
        moeRefusal({{"%y: bf16[s0, 8] = aten.sum.dim_IntList(self=%grouped, dim=[1])",
                     "%y: f32[s0, 8] = aten.sum.dim_IntList(self=%grouped, dim=[1], dtype=dtype:f32)"}}),
        "the outputs of a token's k experts are summed; aten.sum (%y) over dim 1");
}

} // namespace
} // namespace workbench::test
