#include "fusion/rewrite/gain.h"
#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

constexpr std::string_view kBlock = R"(
module "" Model
module "mlp" MLP
parameter %wg: f32[96, 32] "mlp.gate_proj.weight"
parameter %wu: f32[96, 32] "mlp.up_proj.weight"
input %x: f32[1, s0, 32]
%g: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wg) @"mlp"
%act: f32[1, s0, 96] = aten.silu.default(self=%g) @"mlp"
%u: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wu) @"mlp"
%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u) @"mlp"
output %m
)";

std::optional<SiteGain> gainOf(const Graph& graph, std::string_view id, std::int64_t tokens) {
    const Analysis analysis = analyze(graph);
    const auto gains = estimateGains(graph, analysis, tokens);
    EXPECT_EQ(gains.size(), analysis.sites.size());
    for (std::size_t i = 0; i < gains.size(); ++i)
        if (analysis.sites[i].id == id)
            return gains[i];
    ADD_FAILURE() << "no site " << id;
    return std::nullopt;
}

TEST(Gain, CountsEachTensorThatAnOpReadsOrMakes) {
    constexpr std::int64_t tokens = 10, x = tokens * 32 * 4, weight = 96 * 32 * 4, wide = tokens * 96 * 4;
    const auto gain = gainOf(canonical(kBlock), "gate-up@mlp", tokens);
    ASSERT_TRUE(gain.has_value());
    EXPECT_EQ(gain->before, (OpCost{2 * (x + weight + wide) + 2 * wide + 3 * wide, 4}));
    EXPECT_EQ(gain->after, (OpCost{x + 2 * weight + 2 * wide + 2 * wide + wide, 2}));
    EXPECT_EQ(gain->bytesSaved(), x + 2 * wide);
    EXPECT_EQ(gain->launchesSaved(), 2);
}

TEST(Gain, GrowsWithTheTokens) {
    const Graph graph = canonical(kBlock);
    EXPECT_EQ(gainOf(graph, "gate-up@mlp", 20)->bytesSaved(),
              2 * gainOf(graph, "gate-up@mlp", 10)->bytesSaved());
}

TEST(Gain, ViewsCostNothing) {
    // Three products become one and a split; the split is a view, and x is read once instead of three times.
    const auto gain = gainOf(canonical(kAttention), "qkv@attn", 10);
    ASSERT_TRUE(gain.has_value());
    EXPECT_EQ(gain->after.launches, 1);
    EXPECT_EQ(gain->launchesSaved(), 2);
    EXPECT_EQ(gain->bytesSaved(), 2 * 10 * 32 * 4);
}

TEST(Gain, AReadOfAnExpandedTensorReadsWhatWasExpanded) {
    constexpr std::string_view text = R"(
module "" Model
module "norm" LlamaRMSNorm
parameter %w: f32[64] "norm.weight"
input %row: f32[1, 1, 64]
%x: f32[1, 1000, 64] = aten.expand.default(self=%row, size=[1, 1000, 64]) @"norm"
%square: f32[1, 1000, 64] = aten.pow.Tensor_Scalar(self=%x, exponent=2) @"norm"
%mean: f32[1, 1000, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"norm"
%variance: f32[1, 1000, 1] = aten.add.Tensor(self=%mean, other=1e-05) @"norm"
%inverse: f32[1, 1000, 1] = aten.rsqrt.default(self=%variance) @"norm"
%normed: f32[1, 1000, 64] = aten.mul.Tensor(self=%x, other=%inverse) @"norm"
%y: f32[1, 1000, 64] = aten.mul.Tensor(self=%normed, other=%w) @"norm"
output %y
)";
    const auto gain = gainOf(canonical(text), "rms-norm@norm", 1);
    ASSERT_TRUE(gain.has_value());
    EXPECT_EQ(gain->after, (OpCost{64 * 4 + 64 * 4 + 1000 * 64 * 4, 1}));
}

TEST(Gain, SitesThatCannotBeRewrittenHaveNone) {
    EXPECT_FALSE(gainOf(canonical(kAttention), "attention@attn", 10).has_value());
    EXPECT_FALSE(gainOf(canonical(changed(std::string(kBlock), "aten.silu", "aten.tanh")), "gate-up@mlp", 10)
                     .has_value());
}

} // namespace
} // namespace workbench::test
