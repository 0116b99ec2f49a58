#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

/// The graph with biases on the named projections.
std::string withBiases(std::string_view names) {
    std::string text(kAttention);
    for (const char name : names) {
        const std::string n(1, name), size = name == 'q' ? "48" : "16";
        text =
            changed(text, "input %x: f32",
                    "parameter %b" + n + ": f32[" + size + "] \"attn." + n + "_proj.bias\"\ninput %x: f32");
        text = changed(text, "weight=%w" + n + ")", "weight=%w" + n + ", bias=%b" + n + ")");
    }
    return text;
}

std::string qkvRefusal(std::string_view from, std::string_view to) {
    return refusal(canonical(changed(std::string(kAttention), from, to)), "qkv");
}

TEST(Qkv, MergesThreeProjections) {
    const std::string graph = rewrittenBy(canonical(kAttention), "qkv");
    EXPECT_EQ(
        graph.substr(0, graph.find("%qv:")),
        R"(parameter %p_attn_qkv_proj_weight: f32[80, 32] "attn.qkv_proj.weight" = cat(0, "attn.q_proj.weight", "attn.k_proj.weight", "attn.v_proj.weight")
input %x: f32[1, s0, 32]
input %positions: i64[1, s0]
input %cos: f32[1, s0, 8]
input %sin: f32[1, s0, 8]
%q_merged: f32[1, s0, 80] = aten.linear.default(input=%x, weight=%p_attn_qkv_proj_weight)
%q: f32[1, s0, 48], %k: f32[1, s0, 16], %v: f32[1, s0, 16] = aten.split_with_sizes.default(self=%q_merged, split_sizes=[48, 16, 16], dim=-1)
)");
}

TEST(Qkv, StatesRolesSizesAndDerivedWeights) {
    const Graph graph = canonical(withBiases("qkv"));
    const Site site = siteOf(analyze(graph), "qkv@attn");
    EXPECT_EQ(site.verdict, SiteVerdict::applicable);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(site.facts.at("sizes")),
              (std::vector<std::int64_t>{48, 16, 16}));
    ASSERT_EQ(site.derived.size(), 2u);
    EXPECT_EQ(site.derived[1].sources,
              (std::vector<std::string>{"attn.q_proj.bias", "attn.k_proj.bias", "attn.v_proj.bias"}));
    std::string roles;
    for (const RoleNode& role : site.roles)
        roles += role.role + "=" + graph.value(graph.node(role.node).outputs.front()).name + " ";
    EXPECT_EQ(roles, "attention=a q=q k=k v=v ");
}

TEST(Qkv, RefusesABiasOfOneNumberForAllColumns) {
    EXPECT_EQ(refusal(canonical(changed(withBiases("qkv"), "%bk: f32[16]", "%bk: f32[1]")), "qkv"),
              "a bias has one number per column; f32[1]");
}

TEST(Qkv, MergesBiasesToo) {
    const std::string graph = rewrittenBy(canonical(withBiases("qkv")), "qkv");
    EXPECT_NE(graph.find("bias=%p_attn_qkv_proj_bias"), std::string::npos) << graph;
    EXPECT_NE(
        graph.find(
            R"("attn.qkv_proj.bias" = cat(0, "attn.q_proj.bias", "attn.k_proj.bias", "attn.v_proj.bias"))"),
        std::string::npos)
        << graph;
}

TEST(Qkv, RolesFollowTheAttentionNotTheOrder) {
    // Key and value projections change places in the text; the attention tells them apart.
    std::string text = changed(std::string(kAttention), "weight=%wk", "weight=%w_");
    text = changed(changed(text, "weight=%wv", "weight=%wk"), "weight=%w_", "weight=%wv");
    EXPECT_NE(rewrittenBy(canonical(text), "qkv")
                  .find(R"(cat(0, "attn.q_proj.weight", "attn.v_proj.weight", "attn.k_proj.weight"))"),
              std::string::npos);
}

TEST(Qkv, AQueryNarrowerThanTheKeyKeepsItsRole) {
    std::string text =
        changed(changed(std::string(kAttention), "f32[48, 32]", "f32[8, 32]"), "[1, s0, 48]", "[1, s0, 8]");
    text = changed(changed(text, "[1, s0, 6, 8]", "[1, s0, 1, 8]"), "[1, 6, s0, ", "[1, 1, s0, ");
    EXPECT_EQ(applicable(analyze(canonical(text)), "qkv"), "qkv@attn");
}

TEST(Qkv, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kAttention)), "");
}

TEST(Qkv, RefusesProjectionsOfDifferentInputs) {
    const std::string text =
        changed(changed(std::string(kAttention), "input=%x, weight=%wk", "input=%z, weight=%wk"),
                "input %x: f32", "input %z: f32[1, s0, 32]\ninput %x: f32");
    EXPECT_EQ(refusal(canonical(text), "qkv"), "all projections read input %x; input %z");
}

TEST(Qkv, RefusesOneProjectionForTwoRoles) {
    EXPECT_EQ(qkvRefusal("value=%vt", "value=%kt"),
              "query, key and value have a projection each; aten.linear (%k) makes key and value");
}

TEST(Qkv, RefusesABiasOnSomeOnly) {
    EXPECT_EQ(refusal(canonical(withBiases("q")), "qkv"),
              "all projections have a bias, or none; no bias here");
    EXPECT_EQ(refusal(canonical(withBiases("kv")), "qkv"),
              "all projections have a bias, or none; a bias only here");
}

TEST(Qkv, RefusesAWeightThatIsComputed) {
    const std::string text =
        changed(changed(std::string(kAttention), "weight=%wk)", "weight=%wk2)"), "%q: f32",
                "%wk2: f32[16, 32] = aten.mul.Tensor(self=%wk, other=2.0) @\"attn\"\n%q: f32");
    EXPECT_EQ(refusal(canonical(text), "qkv"), "the weights are parameters; aten.mul (%wk2)");
}

TEST(Qkv, RefusesAWeightThatIsUsedTwice) {
    const std::string text =
        changed(changed(std::string(kAttention), "output %y", "output %y, %tied"), "%y: f32",
                "%tied: f32[1, s0, 16] = aten.linear.default(input=%y, weight=%wk) @\"attn\"\n%y: f32");
    const std::string moved = changed(text, "input=%y, weight=%wk", "input=%x2, weight=%wk");
    EXPECT_EQ(refusal(canonical(changed(moved, "input %x: f32", "input %x2: f32[1, s0, 32]\ninput %x: f32")),
                      "qkv"),
              "each weight is used once; parameter attn.k_proj.weight is used 2 times");
}

TEST(Qkv, RefusesAKeyOfTwoProjections) {
    const std::string text = changed(
        changed(std::string(kAttention), "aten.view.default(self=%k,", "aten.view.default(self=%both,"),
        "%kv:", "%both: f32[1, s0, 16] = aten.add.Tensor(self=%k, other=%v) @\"attn\"\n%kv:");
    const std::string ordered =
        changed(text, "%k: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wk) @\"attn\"\n", "");
    const std::string full = changed(
        changed(ordered, "%v: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wv) @\"attn\"\n", ""),
        "%both:",
        "%k: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wk) @\"attn\"\n"
        "%v: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wv) @\"attn\"\n%both:");
    EXPECT_EQ(refusal(canonical(full), "qkv"),
              "the key is computed from one projection; aten.add (%ke) reads several projections");
}

TEST(Qkv, RefusesAQueryWithoutAProjection) {
    const std::string text = changed(changed(std::string(kAttention), "self=%q,", "self=%raw,"),
                                     "input %x: f32", "input %raw: f32[1, s0, 48]\ninput %x: f32");
    EXPECT_EQ(refusal(canonical(text), "qkv"),
              "the query is computed from one projection; aten.add (%qe) reads no projection");
}

TEST(Qkv, RefusesWeightsOfDifferentDtypes) {
    const std::string text = changed(std::string(kAttention), "%wk: f32", "%wk: bf16");
    EXPECT_EQ(refusal(canonical(text), "qkv"),
              "the weights have one dtype and one input width; parameter attn.k_proj.weight bf16[16, 32]");
}

} // namespace
} // namespace workbench::test
