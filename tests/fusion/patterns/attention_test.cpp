#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

constexpr std::string_view kTorch = R"(
module "" Model
module "attn" Attention
input %q: f32[1, 4, s0, 8]
input %k: f32[1, 4, s0, 8]
input %v: f32[1, 4, s0, 8]
%out: f32[1, 4, s0, 8] = aten.scaled_dot_product_attention.default(query=%q, key=%k, value=%v, attn_mask=none, dropout_p=0.0, is_causal=true) @"attn"
output %out
)";

/// Spelled out as transformers' eager attention does, with the mask that transformers makes for one unpacked
/// sequence.
constexpr std::string_view kSpelledOut = R"(
module "" Model
module "attn" Attention
input %q: f32[1, 4, 7, 8]
input %k: f32[1, 2, 7, 8]
input %v: f32[1, 2, 7, 8]
%i: i64[7] = aten.arange.default(end=7) @"attn"
%row: i64[7, 1] = aten.unsqueeze.default(self=%i, dim=1) @"attn"
%seen: bool[7, 7] = aten.le.Tensor(self=%i, other=%row) @"attn"
%zero: f32[] = aten.zeros.default(size=[], dtype=dtype:f32) @"attn"
%mask: f32[7, 7] = aten.where.ScalarOther(condition=%seen, self=%zero, other=-3.4028234663852886e+38) @"attn"
%ku: f32[1, 2, 1, 7, 8] = aten.unsqueeze.default(self=%k, dim=2) @"attn"
%kx: f32[1, 2, 2, 7, 8] = aten.expand.default(self=%ku, size=[1, 2, 2, 7, 8]) @"attn"
%kr: f32[1, 4, 7, 8] = aten._unsafe_view.default(self=%kx, size=[1, 4, 7, 8]) @"attn"
%vu: f32[1, 2, 1, 7, 8] = aten.unsqueeze.default(self=%v, dim=2) @"attn"
%vx: f32[1, 2, 2, 7, 8] = aten.expand.default(self=%vu, size=[1, 2, 2, 7, 8]) @"attn"
%vr: f32[1, 4, 7, 8] = aten._unsafe_view.default(self=%vx, size=[1, 4, 7, 8]) @"attn"
%kt: f32[1, 4, 8, 7] = aten.transpose.int(self=%kr, dim0=2, dim1=3) @"attn"
%products: f32[1, 4, 7, 7] = aten.matmul.default(self=%q, other=%kt) @"attn"
%scaled: f32[1, 4, 7, 7] = aten.mul.Tensor(self=%products, other=0.25) @"attn"
%masked: f32[1, 4, 7, 7] = aten.add.Tensor(self=%scaled, other=%mask) @"attn"
%p: f32[1, 4, 7, 7] = aten.softmax.int(self=%masked, dim=-1, dtype=dtype:f32) @"attn"
%out: f32[1, 4, 7, 8] = aten.matmul.default(self=%p, other=%vr) @"attn"
output %out
)";

std::string attentionRefusal(std::string_view text, std::string_view from, std::string_view to) {
    return refusal(canonical(changed(std::string(text), from, to)), "attention");
}

TEST(Attention, IsPresentWithItsFactsWhereTheTracerPutIt) {
    const std::string text =
        changed(changed(std::string(kAttention), "mask=\"causal\", window=0", "mask=\"sliding\", window=5"),
                "softcap=0.0", "softcap=50.0");
    const Site site = siteOf(analyze(canonical(text)), "attention@attn");
    EXPECT_EQ(site.verdict, SiteVerdict::present);
    EXPECT_TRUE(site.nodes.empty());
    EXPECT_EQ(std::get<double>(site.facts.at("scale")), 0.25);
    EXPECT_EQ(std::get<double>(site.facts.at("softcap")), 50.0);
    EXPECT_EQ(std::get<std::string>(site.facts.at("mask")), "sliding");
    EXPECT_EQ(std::get<std::int64_t>(site.facts.at("window")), 5);
    EXPECT_EQ(std::get<std::int64_t>(site.facts.at("layer")), 0);
    EXPECT_FALSE(std::get<bool>(site.facts.at("sinks")));
}

TEST(Attention, ReplacesTorchsCausalOp) {
    EXPECT_EQ(rewritten(canonical(kTorch)), R"(input %q: f32[1, 4, s0, 8]
input %k: f32[1, 4, s0, 8]
input %v: f32[1, 4, s0, 8]
%positions_flat: i64[s0] = aten.arange.default(end=s0, dtype=dtype:i64)
%positions: i64[1, s0] = aten.unsqueeze.default(self=%positions_flat, dim=0)
%out_attention: f32[1, s0, 4, 8] = workbench.attention(query=%q, key=%k, value=%v, positions=%positions, layer=0, scale=0.35355339059327373, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none)
%out: f32[1, 4, s0, 8] = aten.transpose.int(self=%out_attention, dim0=1, dim1=2)
output %out
)");
}

TEST(Attention, WithoutAMaskItSeesEverything) {
    const Graph graph = canonical(changed(std::string(kTorch), "is_causal=true", "is_causal=false"));
    EXPECT_EQ(std::get<std::string>(siteOf(analyze(graph), "attention@attn").facts.at("mask")), "full");
}

TEST(Attention, ReplacesTheSpelledOutFormAndItsRepeatedHeads) {
    EXPECT_EQ(rewritten(canonical(kSpelledOut)), R"(input %q: f32[1, 4, 7, 8]
input %k: f32[1, 2, 7, 8]
input %v: f32[1, 2, 7, 8]
%positions_flat: i64[7] = aten.arange.default(end=7, dtype=dtype:i64)
%positions: i64[1, 7] = aten.unsqueeze.default(self=%positions_flat, dim=0)
%out_attention: f32[1, 7, 4, 8] = workbench.attention(query=%q, key=%k, value=%v, positions=%positions, layer=0, scale=0.25, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none)
%out: f32[1, 4, 7, 8] = aten.transpose.int(self=%out_attention, dim0=1, dim1=2)
output %out
)");
}

TEST(Attention, ReadsTheSoftcap) {
    const std::string text =
        changed(changed(std::string(kSpelledOut), "self=%scaled, other=%mask", "self=%capped, other=%mask"),
                "%masked:",
                "%over: f32[1, 4, 7, 7] = aten.div.Tensor(self=%scaled, other=30.0) @\"attn\"\n"
                "%tanh: f32[1, 4, 7, 7] = aten.tanh.default(self=%over) @\"attn\"\n"
                "%capped: f32[1, 4, 7, 7] = aten.mul.Tensor(self=%tanh, other=30.0) @\"attn\"\n%masked:");
    const Facts facts = siteOf(analyze(canonical(text)), "attention@attn").facts;
    EXPECT_EQ(std::get<double>(facts.at("softcap")), 30.0);
    EXPECT_DOUBLE_EQ(std::get<double>(facts.at("scale")), 0.25);
}

TEST(Attention, SwappedOperandsOfTheMaskGiveTheSameGraph) {
    EXPECT_EQ(rewritten(canonical(changed(std::string(kSpelledOut), "self=%scaled, other=%mask",
                                          "self=%mask, other=%scaled"))),
              rewritten(canonical(kSpelledOut)));
}

TEST(Attention, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kTorch)), "");
    EXPECT_EQ(secondRun(canonical(kSpelledOut)), "");
}

TEST(Attention, RefusesAMaskThatIsAnInput) {
    EXPECT_EQ(
        attentionRefusal(changed(std::string(kTorch), "input %q", "input %m: bool[1, 1, s0, s0]\ninput %q"),
                         "attn_mask=none", "attn_mask=%m"),
        "the mask is proven to be causal, a sliding window or none; input %m");
    EXPECT_EQ(attentionRefusal(changed(std::string(kSpelledOut), "input %q", "input %m: f32[7, 7]\ninput %q"),
                               "other=%mask", "other=%m"),
              "the mask is proven to be causal, a sliding window or none; input %m");
}

TEST(Attention, RefusesAMaskThatShowsTheFuture) {
    EXPECT_EQ(attentionRefusal(kSpelledOut, "aten.le.Tensor(self=%i, other=%row)",
                               "aten.ge.Tensor(self=%i, other=%row)"),
              "the mask is proven to be causal, a sliding window or none; aten.where (%mask)");
}

TEST(Attention, RefusesDropout) {
    EXPECT_EQ(attentionRefusal(kTorch, "dropout_p=0.0", "dropout_p=0.1"), "no dropout; dropout_p=0.1");
}

TEST(Attention, RefusesABatchOfSeveral) {
    EXPECT_EQ(attentionRefusal(kTorch, "f32[1, 4", "f32[3, 4"), "a batch of one; 3");
}

TEST(Attention, RefusesMoreKeysThanQueries) {
    std::string text =
        changed(std::string(kTorch), "input %k: f32[1, 4, s0, 8]", "input %k: f32[1, 4, s1, 8]");
    EXPECT_EQ(attentionRefusal(text, "input %v: f32[1, 4, s0, 8]", "input %v: f32[1, 4, s1, 8]"),
              "equally many queries and keys; s0 and s1");
}

TEST(Attention, RefusesProbabilitiesThatAreReadElsewhere) {
    const std::string text = changed(std::string(kSpelledOut), "output %out", "output %out, %scaled");
    EXPECT_EQ(refusal(canonical(text), "attention"),
              "no value inside of the pattern is used elsewhere; aten.mul (%scaled) is also used by the "
              "graph's outputs");
}

TEST(Attention, RefusesASoftmaxOverTheQueries) {
    EXPECT_EQ(attentionRefusal(kSpelledOut, "dim=-1, dtype", "dim=2, dtype"),
              "the softmax runs over the keys; dim=2");
}

TEST(Attention, RefusesAMaskTimesAFactor) {
    EXPECT_EQ(
        attentionRefusal(kSpelledOut, "self=%scaled, other=%mask", "self=%scaled, other=%mask, alpha=0"),
        "a mask without a factor; alpha=0");
}

TEST(Attention, RefusesScoresThatAreRoundedDown) {
    EXPECT_EQ(attentionRefusal(kSpelledOut, "aten.mul.Tensor(self=%products, other=0.25)",
                               "aten.div.Tensor_mode(self=%products, other=4.0, rounding_mode=\"floor\")"),
              "the scores are scale * q k^T, then a softcap, then a mask; aten.div (%scaled)");
}

TEST(Attention, RefusesScoresAndProbabilitiesInIntegersOrANarrowerType) {
    const auto cast = [](std::string_view reader, std::string_view value, std::string_view before,
                         const std::string& dtype) {
        const std::string name(value);
        return changed(
            changed(std::string(kSpelledOut), reader, changed(std::string(reader), name, "%float")), before,
            "%other: " + dtype + "[1, 4, 7, 7] = aten._to_copy.default(self=" + name +
                ", dtype=dtype:" + dtype +
                ") @\"attn\"\n%float: f32[1, 4, 7, 7] = "
                "aten._to_copy.default(self=%other, dtype=dtype:f32) @\"attn\"\n" +
                std::string(before));
    };
    for (const char* dtype : {"i32", "bf16"}) {
        EXPECT_EQ(
            refusal(canonical(cast("self=%scaled, other=%mask", "%scaled", "%masked:", dtype)), "attention"),
            "the scores are scale * q k^T, then a softcap, then a mask; aten._to_copy (%float)");
        EXPECT_EQ(refusal(canonical(cast("self=%p, other=%vr", "%p", "%out:", dtype)), "attention"),
                  "the probabilities only weigh the values; aten._to_copy.default");
    }
    const Graph wide = canonical(cast("self=%p, other=%vr", "%p", "%out:", "f64"));
    EXPECT_EQ(siteOf(analyze(wide), "attention@attn").verdict, SiteVerdict::applicable);
}

} // namespace
} // namespace workbench::test
