#include "fusion/coverage.h"
#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

TEST(Coverage, AFeedForwardBlockIsTheChildOfTheNumberedLayer) {
    EXPECT_EQ(feedForwardModule("model.layers.3.mlp.experts.act_fn"), "model.layers.3.mlp");
    EXPECT_EQ(feedForwardModule("model.layers.3.mlp"), "model.layers.3.mlp");
    EXPECT_EQ(feedForwardModule("transformer.h.0.mlps.1.act"), "transformer.h.0.mlps.1");
    EXPECT_EQ(feedForwardModule("model.layers.3"), "model.layers.3");
    EXPECT_EQ(feedForwardModule("mlp.act"), "mlp");
    EXPECT_EQ(feedForwardModule("mlp"), "mlp");
    EXPECT_EQ(feedForwardModule(""), "");
}

/// Two layers: a block with experts and a shared expert, attention with a gate; a capped head.
constexpr std::string_view kModel = R"(
module "" Model
module "layers" ModuleList
module "layers.0" Layer
module "layers.0.attn" Attention
module "layers.0.mlp" Block
module "layers.0.mlp.shared" MLP
parameter %w: f32[8, 8] "w"
input %x: f32[1, 4, 8]
input %q: f32[1, 1, 4, 8]
input %p: i64[1, 4]
%a: f32[1, 4, 1, 8] = workbench.attention(query=%q, key=%q, value=%q, positions=%p, layer=0, scale=1.0, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none) @"layers.0.attn"
%ar: f32[1, 4, 8] = aten.reshape.default(self=%a, shape=[1, 4, 8]) @"layers.0.attn"
%g: f32[1, 4, 8] = aten.linear.default(input=%x, weight=%w) @"layers.0.attn"
%gs: f32[1, 4, 8] = aten.sigmoid.default(self=%g) @"layers.0.attn"
%ag: f32[1, 4, 8] = aten.mul.Tensor(self=%ar, other=%gs) @"layers.0.attn"
%o: f32[1, 4, 8] = aten.linear.default(input=%ag, weight=%w) @"layers.0.attn"
%e: f32[1, 4, 8] = aten.silu.default(self=%o) @"layers.0.mlp"
%ed: f32[1, 4, 8] = aten.linear.default(input=%e, weight=%w) @"layers.0.mlp"
%s: f32[1, 4, 8] = aten.silu.default(self=%ed) @"layers.0.mlp.shared"
%sd: f32[1, 4, 8] = aten.linear.default(input=%s, weight=%w) @"layers.0.mlp.shared"
%r: f32[1, 4, 8] = aten.rsqrt.default(self=%sd) @""
%n: f32[1, 4, 8] = aten.layer_norm.default(input=%r, normalized_shape=[8]) @""
%head: f32[1, 4, 8] = aten.tanh.default(self=%n) @""
output %head
)";

TEST(Coverage, CountsOpsWithoutTheMatcher) {
    std::string counts;
    const Graph graph = parsed(kModel);
    for (const Coverage& coverage : countCoverage(GraphView(graph)))
        counts += coverage.pattern + " " + std::to_string(coverage.places) + "; ";
    EXPECT_EQ(counts, "attention 1; qk-norm-rope 1; add-rms-norm 2; qkv 1; gate-up 1; moe 0; moe-router 0; "
                      "rope 1; rms-norm 2; ");
}

TEST(Coverage, AGateInAttentionAndACappedHeadAreNoBlocks) {
    const Graph graph = parsed(kModel);
    const auto blocks = feedForwardBlocks(GraphView(graph));
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(blocks[0].module, "layers.0.mlp");
    EXPECT_EQ(blocks[0].activations.size(), 2u);
}

TEST(Coverage, EveryPlaceHasASite) {
    const Analysis analysis = analyze(canonical(kModel));
    for (const Coverage& coverage : analysis.coverage) {
        std::int64_t sites = 0;
        for (const Site& site : analysis.sites)
            sites += site.pattern == coverage.pattern;
        EXPECT_GE(sites, coverage.places) << coverage.pattern;
    }
}

} // namespace
} // namespace workbench::test
