#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

/// A block adds, the norm of another module reads the sum, and so does the next block.
constexpr std::string_view kLayer = R"(
module "" Model
module "layer" Layer
module "layer.norm" Norm
parameter %w: bf16[64] "layer.norm.weight"
input %hidden: bf16[1, s0, 64]
input %branch: bf16[1, s0, 64]
%sum: bf16[1, s0, 64] = aten.add.Tensor(self=%hidden, other=%branch) @"layer"
%wide: f32[1, s0, 64] = aten._to_copy.default(self=%sum, dtype=dtype:f32) @"layer.norm"
%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%wide, exponent=2) @"layer.norm"
%mean: f32[1, s0, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"layer.norm"
%variance: f32[1, s0, 1] = aten.add.Tensor(self=%mean, other=1e-05) @"layer.norm"
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance) @"layer.norm"
%normed: f32[1, s0, 64] = aten.mul.Tensor(self=%wide, other=%inverse) @"layer.norm"
%narrow: bf16[1, s0, 64] = aten._to_copy.default(self=%normed, dtype=dtype:bf16) @"layer.norm"
%y: bf16[1, s0, 64] = aten.mul.Tensor(self=%w, other=%narrow) @"layer.norm"
output %y, %sum
)";

std::string addRefusal(std::string_view from, std::string_view to) {
    return refusal(canonical(changed(std::string(kLayer), from, to)), "add-rms-norm");
}

TEST(AddRmsNorm, FusesAcrossModulesAndKeepsTheSum) {
    EXPECT_EQ(rewritten(canonical(kLayer)), R"(parameter %w: bf16[64] "layer.norm.weight"
input %hidden: bf16[1, s0, 64]
input %branch: bf16[1, s0, 64]
%y: bf16[1, s0, 64], %sum: bf16[1, s0, 64] = workbench.add_rms_norm(input=%branch, residual=%hidden, weight=%w, eps=1e-05, weight_offset=0.0, cast="before_weight")
output %y, %sum
)");
}

TEST(AddRmsNorm, SwappedOperandsGiveTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(changed(std::string(kLayer), "self=%hidden, other=%branch",
                                          "self=%branch, other=%hidden"))),
              rewritten(canonical(kLayer)));
}

TEST(AddRmsNorm, SiteHasTheNormsModuleAndTellsTheAdd) {
    const Graph graph = canonical(kLayer);
    const Site site = siteOf(analyze(graph), "add-rms-norm@layer.norm");
    std::string roles;
    for (const RoleNode& role : site.roles)
        roles += role.role + "=" + std::string(graph.modulePath(role.node)) + " ";
    EXPECT_EQ(roles, "norm=layer.norm add=layer ");
}

TEST(AddRmsNorm, RejectedItLeavesTheNorm) {
    const std::string graph = rewritten(canonical(kLayer), {"add-rms-norm"});
    EXPECT_NE(graph.find("%y: bf16[1, s0, 64] = workbench.rms_norm(input=%sum"), std::string::npos) << graph;
}

TEST(AddRmsNorm, ContainsTheNorm) {
    const Graph graph = canonical(kLayer);
    const Analysis analysis = analyze(graph);
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions[site.id] = Decision::apply;
    const Result<Rewritten> result = rewrite(graph, analysis, decisions);
    ASSERT_TRUE(result.ok());
    for (std::size_t i = 0; i < analysis.sites.size(); ++i)
        if (analysis.sites[i].pattern == "rms-norm") {
            EXPECT_EQ(result->outcomes[i].state, SiteOutcome::State::contained);
            EXPECT_EQ(result->outcomes[i].with, "add-rms-norm@layer.norm");
        }
}

TEST(AddRmsNorm, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kLayer)), "");
}

TEST(AddRmsNorm, TheNormIsPresentInTheOp) {
    const Analysis analysis = analyze(parsed(rewrittenBy(canonical(kLayer), "add-rms-norm")));
    for (const char* site : {"add-rms-norm@", "rms-norm@"})
        EXPECT_EQ(siteOf(analysis, site).verdict, SiteVerdict::present) << site;
}

TEST(AddRmsNorm, RefusesAFactorOnOneOperand) {
    EXPECT_EQ(addRefusal("other=%branch)", "other=%branch, alpha=0.5)"),
              "a sum of two tensors; other=%branch");
}

TEST(AddRmsNorm, RefusesASumWithANumber) {
    EXPECT_EQ(addRefusal("other=%branch", "other=2.0"), "a sum of two tensors; other=2");
}

TEST(AddRmsNorm, RefusesAnOperandThatIsSpreadOut) {
    EXPECT_EQ(addRefusal("input %branch: bf16[1, s0, 64]", "input %branch: bf16[64]"),
              "both operands have the shape and dtype of the sum; input %branch in bf16");
}

TEST(AddRmsNorm, RefusesAnOperandOfAnotherDtype) {
    EXPECT_EQ(addRefusal("input %branch: bf16", "input %branch: f16"),
              "both operands have the shape and dtype of the sum; input %branch in f16");
}

TEST(AddRmsNorm, RefusesANormedValueThatIsNoSum) {
    EXPECT_EQ(addRefusal("aten.add.Tensor(self=%hidden, other=%branch)",
                         "aten.sub.Tensor(self=%hidden, other=%branch)"),
              "the normed value is a sum; aten.sub (%sum)");
}

TEST(AddRmsNorm, RefusesWhatTheNormRefuses) {
    EXPECT_EQ(addRefusal("aten.mean.dim", "aten.sum.dim_IntList"),
              "the mean of the squares; aten.sum (%mean)");
}

} // namespace
} // namespace workbench::test
