#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

/// A norm over the last dim of `shape`, from value `in` to value `out`.
std::string norm(std::string_view in, std::string_view out, std::string_view shape, std::string_view weight,
                 std::string_view eps = "1e-06") {
    const std::string s(shape), o(out), one = s.substr(0, s.rfind(' ')) + " 1";
    return "%" + o + "_2: f32[" + s + "] = aten.pow.Tensor_Scalar(self=%" + std::string(in) +
           ", exponent=2) @\"attn\"\n%" + o + "_m: f32[" + one + "] = aten.mean.dim(self=%" + o +
           "_2, dim=[-1], keepdim=true) @\"attn\"\n%" + o + "_v: f32[" + one + "] = aten.add.Tensor(self=%" +
           o + "_m, other=" + std::string(eps) + ") @\"attn\"\n%" + o + "_r: f32[" + one +
           "] = aten.rsqrt.default(self=%" + o + "_v) @\"attn\"\n%" + o + "_n: f32[" + s +
           "] = aten.mul.Tensor(self=%" + std::string(in) + ", other=%" + o + "_r) @\"attn\"\n%" + o +
           ": f32[" + s + "] = aten.mul.Tensor(self=%" + std::string(weight) + ", other=%" + o +
           "_n) @\"attn\"\n";
}

std::string withWeights(std::string text) {
    return changed(std::move(text), "input %x: f32",
                   "parameter %nq: f32[8] \"attn.q_norm.weight\"\nparameter %nk: f32[8] "
                   "\"attn.k_norm.weight\"\ninput %x: f32");
}

/// Norm, then transpose, as Qwen 3.
std::string before(std::string_view keyEps = "1e-06") {
    std::string text = withWeights(std::string(kAttention));
    text = changed(changed(text, "self=%qv, dim0", "self=%qx, dim0"), "self=%kv, dim0", "self=%kx, dim0");
    text = changed(text, "%qt: ", norm("qv", "qx", "1, s0, 6, 8", "nq") + "%qt: ");
    return changed(text, "%kt: ", norm("kv", "kx", "1, s0, 2, 8", "nk", keyEps) + "%kt: ");
}

/// Transpose, then norm, as Gemma 3.
std::string after() {
    std::string text = withWeights(std::string(kAttention));
    text = changed(changed(text, "%qt: ", "%qu: "), "%kt: ", "%ku: ");
    return changed(
        text, "%c: ", norm("qu", "qt", "1, 6, s0, 8", "nq") + norm("ku", "kt", "1, 2, s0, 8", "nk") + "%c: ");
}

constexpr std::string_view kFused =
    R"(%qe: f32[1, 6, s0, 8], %ke: f32[1, 2, s0, 8] = workbench.qk_norm_rope(query=%qv, key=%kv, query_weight=%nq, key_weight=%nk, cos=%cos, sin=%sin, eps=1e-06, weight_offset=0.0, cast="before_weight", style="half"))";

TEST(QkNormRope, FusesNormTransposeAndRotation) {
    const std::string graph = rewrittenBy(canonical(before()), "qk-norm-rope");
    EXPECT_NE(graph.find(kFused), std::string::npos) << graph;
    EXPECT_EQ(graph.find("aten.rsqrt"), std::string::npos) << graph;
}

TEST(QkNormRope, FusesANormAfterTheTranspose) {
    EXPECT_EQ(rewrittenBy(canonical(after()), "qk-norm-rope"),
              rewrittenBy(canonical(before()), "qk-norm-rope"));
}

TEST(QkNormRope, StatesWhichWeightBelongsToWhichSide) {
    const Facts facts = siteOf(analyze(canonical(before())), "qk-norm-rope@attn").facts;
    EXPECT_EQ(std::get<std::string>(facts.at("query_weight")), "attn.q_norm.weight");
    EXPECT_EQ(std::get<std::string>(facts.at("key_weight")), "attn.k_norm.weight");
}

TEST(QkNormRope, SwappedOperandsGiveTheSameGraph) {
    const std::string swapped = changed(changed(before(), "self=%nq, other=%qx_n", "self=%qx_n, other=%nq"),
                                        "self=%kc, other=%ks", "self=%ks, other=%kc");
    EXPECT_EQ(rewrittenBy(canonical(swapped), "qk-norm-rope"),
              rewrittenBy(canonical(before()), "qk-norm-rope"));
}

TEST(QkNormRope, ContainsRopeAndBothNorms) {
    const Graph graph = canonical(before());
    const Analysis analysis = analyze(graph);
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions[site.id] = Decision::apply;
    const Result<Rewritten> result = rewrite(graph, analysis, decisions);
    ASSERT_TRUE(result.ok());
    int contained = 0;
    for (const SiteOutcome& outcome : result->outcomes)
        contained += outcome.state == SiteOutcome::State::contained && outcome.with == "qk-norm-rope@attn";
    EXPECT_EQ(contained, 3);
}

TEST(QkNormRope, RejectedItLeavesRopeAndTheNorms) {
    const std::string graph = rewritten(canonical(before()), {"qk-norm-rope"});
    EXPECT_NE(graph.find("workbench.rope"), std::string::npos) << graph;
    EXPECT_NE(graph.find("workbench.rms_norm(input=%qv"), std::string::npos) << graph;
}

TEST(QkNormRope, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(before())), "");
    EXPECT_EQ(secondRun(canonical(after())), "");
}

TEST(QkNormRope, RopeAndTheNormsArePresentInTheOp) {
    const Analysis analysis = analyze(parsed(rewrittenBy(canonical(before()), "qk-norm-rope")));
    for (const char* site : {"qk-norm-rope@", "rope@", "rms-norm@"})
        EXPECT_EQ(siteOf(analysis, site).verdict, SiteVerdict::present) << site;
}

TEST(QkNormRope, RefusesARotationWithoutNorms) {
    EXPECT_EQ(refusal(canonical(kAttention), "qk-norm-rope"),
              "the query is RMS-normalised per head before its rotation; aten.reshape (%qv)");
}

TEST(QkNormRope, RefusesANormOverAllHeads) {
    std::string text = changed(withWeights(std::string(kAttention)), "aten.view.default(self=%q,",
                               "aten.view.default(self=%qx,");
    text = changed(changed(text, "%qv: ", norm("q", "qx", "1, s0, 48", "nq") + "%qv: "), "%nq: f32[8]",
                   "%nq: f32[48]");
    EXPECT_EQ(refusal(canonical(text), "qk-norm-rope"),
              "the query is RMS-normalised per head before its rotation; aten.reshape (%qv)");
}

TEST(QkNormRope, RefusesANormOfTheQueryOnly) {
    const std::string text = changed(before(), "self=%kx, dim0", "self=%kv, dim0");
    EXPECT_EQ(refusal(canonical(text), "qk-norm-rope"),
              "the key is RMS-normalised per head before its rotation; aten.reshape (%kv)");
}

TEST(QkNormRope, RefusesNormsWithDifferentEpsilons) {
    EXPECT_EQ(refusal(canonical(before("1e-05")), "qk-norm-rope"),
              "both norms have the same eps, weight_offset and cast; another eps");
}

TEST(QkNormRope, RefusesANormedValueThatIsReadElsewhere) {
    EXPECT_EQ(refusal(canonical(changed(before(), "output %y", "output %y, %qx")), "qk-norm-rope"),
              "no value inside of the pattern is used elsewhere; aten.mul (%qx) is also used by the graph's "
              "outputs");
}

TEST(QkNormRope, RefusesWhatRopeRefuses) {
    EXPECT_EQ(refusal(canonical(changed(before(), "key=%ke", "key=%kt")), "qk-norm-rope"),
              "the key is rotated: x * cos + rotate(x) * sin; aten.mul (%kx)");
}

} // namespace
} // namespace workbench::test
