#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

std::string ropeRefusal(std::string_view from, std::string_view to) {
    return refusal(canonical(changed(std::string(kAttention), from, to)), "rope");
}

constexpr std::string_view kFused =
    R"(%qe: f32[1, 6, s0, 8], %ke: f32[1, 2, s0, 8] = workbench.rope(query=%qt, key=%kt, cos=%cos, sin=%sin, style="half"))";

/// kAttention with interleaved rotations.
std::string interleaved() {
    std::string text(kAttention);
    for (const std::string side : {"q", "k"}) {
        const std::string heads = side == "q" ? "6" : "2", shape = "f32[1, " + heads + ", s0, ";
        text = changed(text, "start=0, end=4) @\"attn\"\n%" + side + "2",
                       "start=0, end=9223372036854775807, step=2) @\"attn\"\n%" + side + "2");
        text = changed(text,
                       "%" + side + "2: " + shape + "4] = aten.slice.Tensor(self=%" + side +
                           "t, dim=3, start=4, end=9223372036854775807)",
                       "%" + side + "2: " + shape + "4] = aten.slice.Tensor(self=%" + side +
                           "t, dim=3, start=1, end=9223372036854775807, step=2)");
        text = changed(text,
                       "%" + side + "r: " + shape + "8] = aten.cat.default(tensors=[%" + side + "n, %" +
                           side + "1], dim=-1)",
                       "%" + side + "p: " + shape + "4, 2] = aten.stack.default(tensors=[%" + side + "n, %" +
                           side + "1], dim=-1) @\"attn\"\n%" + side + "r: " + shape +
                           "8] = aten.view.default(self=%" + side + "p, size=[1, " + heads + ", s0, 8])");
    }
    return text;
}

/// kAttention whose heads are 12 wide and rotate their first 8 columns.
std::string partial() {
    std::string text(kAttention);
    text = changed(changed(text, "f32[48, 32]", "f32[72, 32]"), "f32[16, 32]", "f32[24, 32]");
    text = changed(changed(text, "%q: f32[1, s0, 48]", "%q: f32[1, s0, 72]"), "%y: f32[1, s0, 48]",
                   "%y: f32[1, s0, 72]");
    text = changed(changed(text, "f32[1, s0, 16]", "f32[1, s0, 24]"), "-1, 8]", "-1, 12]");
    text = changed(changed(text, "f32[1, s0, 6, 8]", "f32[1, s0, 6, 12]"), "f32[1, s0, 2, 8]",
                   "f32[1, s0, 2, 12]");
    for (const std::string side : {"q", "k"}) {
        const std::string heads = side == "q" ? "6" : "2", shape = "f32[1, " + heads + ", s0, ";
        text = changed(text, "%" + side + "t: " + shape + "8]", "%" + side + "t: " + shape + "12]");
        text = changed(text, "%" + side + "c: " + shape + "8] = aten.mul.Tensor(self=%" + side + "t",
                       "%" + side + "h: " + shape + "8] = aten.slice.Tensor(self=%" + side +
                           "t, dim=-1, start=0, end=8) @\"attn\"\n%" + side + "rest: " + shape +
                           "4] = aten.slice.Tensor(self=%" + side +
                           "t, dim=-1, start=8, end=9223372036854775807) @\"attn\"\n%" + side +
                           "c: " + shape + "8] = aten.mul.Tensor(self=%" + side + "h");
        text = changed(text, "aten.slice.Tensor(self=%" + side + "t, dim=3",
                       "aten.slice.Tensor(self=%" + side + "h, dim=3");
        text =
            changed(text,
                    "%" + side + "e: " + shape + "8] = aten.add.Tensor(self=%" + side + "c, other=%" + side +
                        "s) @\"attn\"",
                    "%" + side + "o: " + shape + "8] = aten.add.Tensor(self=%" + side + "c, other=%" + side +
                        "s) @\"attn\"\n%" + side + "e: " + shape + "12] = aten.cat.default(tensors=[%" +
                        side + "o, %" + side + "rest], dim=-1) @\"attn\"");
    }
    return changed(text, "%vt: f32[1, 2, s0, 8]", "%vt: f32[1, 2, s0, 12]");
}

TEST(Rope, FusesQueryAndKeyOfOneAttention) {
    const std::string graph = rewrittenBy(canonical(kAttention), "rope");
    EXPECT_NE(graph.find(kFused), std::string::npos) << graph;
    for (const char* gone : {"aten.neg", "aten.slice", "aten.cat", "aten.unsqueeze"})
        EXPECT_EQ(graph.find(gone), std::string::npos) << graph;
}

TEST(Rope, SwappedOperandsGiveTheSameGraph) {
    std::string text = changed(std::string(kAttention), "self=%qc, other=%qs", "self=%qs, other=%qc");
    text = changed(changed(text, "self=%kr, other=%s", "self=%s, other=%kr"), "self=%qt, other=%c",
                   "self=%c, other=%qt");
    EXPECT_EQ(rewrittenBy(canonical(text), "rope"), rewrittenBy(canonical(kAttention), "rope"));
}

TEST(Rope, FusesInterleavedRotations) {
    const std::string graph = rewrittenBy(canonical(interleaved()), "rope");
    EXPECT_NE(graph.find(changed(std::string(kFused), "half", "interleaved")), std::string::npos) << graph;
}

TEST(Rope, FusesAPartialRotation) {
    const std::string graph = rewrittenBy(canonical(partial()), "rope");
    EXPECT_NE(
        graph.find(
            R"(%qe: f32[1, 6, s0, 12], %ke: f32[1, 2, s0, 12] = workbench.rope(query=%qt, key=%kt, cos=%cos, sin=%sin, style="half"))"),
        std::string::npos)
        << graph;
    EXPECT_EQ(
        std::get<std::int64_t>(siteOf(analyze(canonical(partial())), "rope@attn").facts.at("rotary_dim")), 8);
}

TEST(Rope, ReadsAnUnsqueezePerUse) {
    // transformers spreads the tables once per attention, hand-written models once per use.
    std::string text = changed(std::string(kAttention), "self=%kt, other=%c", "self=%kt, other=%again");
    text = changed(text,
                   "%kc:", "%again: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%cos, dim=1) @\"\"\n%kc:");
    EXPECT_EQ(rewrittenBy(canonical(text), "rope"), rewrittenBy(canonical(kAttention), "rope"));
}

TEST(Rope, CastsWhereTheTablesAreWider) {
    // OLMo 2 in bf16: tables in f32, so that the products are f32, and a cast before the attention.
    std::string text = changed(std::string(kAttention), "f32", "bf16");
    text = changed(changed(text, "%cos: bf16", "%cos: f32"), "%sin: bf16", "%sin: f32");
    for (const char* wide : {"%c: ", "%s: ", "%qc: ", "%qs: ", "%qe: ", "%kc: ", "%ks: ", "%ke: "})
        text = changed(text, std::string(wide) + "bf16", std::string(wide) + "f32");
    text = changed(
        changed(text, "query=%qe, key=%ke", "query=%q16, key=%k16"), "%a: bf16",
        "%q16: bf16[1, 6, s0, 8] = aten._to_copy.default(self=%qe, dtype=dtype:bf16) @\"attn\"\n"
        "%k16: bf16[1, 2, s0, 8] = aten._to_copy.default(self=%ke, dtype=dtype:bf16) @\"attn\"\n%a: bf16");
    const std::string graph = rewrittenBy(canonical(text), "rope");
    EXPECT_NE(graph.find(R"(%qt_f32: f32[1, 6, s0, 8] = aten._to_copy.default(self=%qt, dtype=dtype:f32))"),
              std::string::npos)
        << graph;
    EXPECT_NE(
        graph.find(
            R"(%qe: f32[1, 6, s0, 8], %ke: f32[1, 2, s0, 8] = workbench.rope(query=%qt_f32, key=%kt_f32, cos=%cos, sin=%sin, style="half"))"),
        std::string::npos)
        << graph;
}

TEST(Rope, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kAttention)), "");
    EXPECT_EQ(secondRun(canonical(interleaved())), "");
    EXPECT_EQ(secondRun(canonical(partial())), "");
}

TEST(Rope, IsPresentWhereTheOpIsThere) {
    const Graph graph = parsed(rewrittenBy(canonical(kAttention), "rope"));
    EXPECT_EQ(siteOf(analyze(graph), "rope@").verdict, SiteVerdict::present);
}

TEST(Rope, RefusesDifferentTablesForQueryAndKey) {
    const std::string text =
        changed(changed(std::string(kAttention), "self=%kt, other=%c", "self=%kt, other=%s"),
                "self=%kr, other=%s", "self=%kr, other=%c");
    EXPECT_EQ(refusal(canonical(text), "rope"), "query and key are rotated by the same tables; input %cos");
}

TEST(Rope, RefusesTheOtherSign) {
    const std::string text =
        changed(changed(std::string(kAttention), "aten.neg.default(self=%q2)", "aten.neg.default(self=%q1)"),
                "tensors=[%qn, %q1]", "tensors=[%q2, %qn]");
    EXPECT_EQ(refusal(canonical(text), "rope"), "the negated part comes first; aten.slice (%q2)");
}

TEST(Rope, RefusesSwappedHalves) {
    const std::string text =
        changed(changed(std::string(kAttention), "aten.neg.default(self=%q2)", "aten.neg.default(self=%q1)"),
                "tensors=[%qn, %q1]", "tensors=[%qn, %q2]");
    EXPECT_EQ(refusal(canonical(text), "rope"), "the negated part is the second half; [0:4:1] of dim 3 of 8");
}

TEST(Rope, RefusesADifference) {
    EXPECT_EQ(
        ropeRefusal("%qe: f32[1, 6, s0, 8] = aten.add.Tensor", "%qe: f32[1, 6, s0, 8] = aten.sub.Tensor"),
        "the query is rotated: x * cos + rotate(x) * sin; aten.sub (%qe)");
}

TEST(Rope, RefusesAnotherValueTimesCos) {
    const std::string text =
        changed(changed(std::string(kAttention), "self=%qt, other=%c)", "self=%other, other=%c)"),
                "input %x: f32", "input %other: f32[1, 6, s0, 8]\ninput %x: f32");
    EXPECT_EQ(refusal(canonical(text), "rope"), "x itself is multiplied by cos; input %other");
}

TEST(Rope, RefusesUnevenHalves) {
    std::string text = changed(std::string(kAttention),
                               "%q1: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qt, dim=3, start=0, end=4)",
                               "%q1: f32[1, 6, s0, 3] = aten.slice.Tensor(self=%qt, dim=3, start=0, end=3)");
    text = changed(text, "%q2: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qt, dim=3, start=4",
                   "%q2: f32[1, 6, s0, 5] = aten.slice.Tensor(self=%qt, dim=3, start=3");
    text = changed(text, "%qn: f32[1, 6, s0, 4]", "%qn: f32[1, 6, s0, 5]");
    EXPECT_EQ(refusal(canonical(text), "rope"), "the negated part is the second half; [3:8:1] of dim 3 of 8");
}

TEST(Rope, RefusesAnOddWidth) {
    std::string text = changed(std::string(kAttention), ", 8]", ", 7]");
    text = changed(changed(text, "f32[48, 32]", "f32[42, 32]"), "f32[16, 32]", "f32[14, 32]");
    text = changed(changed(changed(text, "[1, s0, 48]", "[1, s0, 42]"), "[1, s0, 16]", "[1, s0, 14]"),
                   "end=4)", "end=3)");
    text =
        changed(changed(changed(text, "start=4", "start=3"), "q1: f32[1, 6, s0, 4]", "q1: f32[1, 6, s0, 3]"),
                "k1: f32[1, 2, s0, 4]", "k1: f32[1, 2, s0, 3]");
    EXPECT_EQ(refusal(canonical(text), "rope"), "the negated part is the second half; [3:7:1] of dim 3 of 7");
}

TEST(Rope, RefusesTheOtherSideUnrotated) {
    EXPECT_EQ(ropeRefusal("key=%ke", "key=%kt"),
              "the key is rotated: x * cos + rotate(x) * sin; aten.linear (%k)");
}

TEST(Rope, RefusesTablesSpreadOverTokens) {
    const std::string text =
        changed(std::string(kAttention), "%c: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%cos, dim=1)",
                "%c: f32[1, s0, 1, 8] = aten.unsqueeze.default(self=%cos, dim=2)");
    EXPECT_EQ(refusal(canonical(text), "rope"), "dim=1; dim=2");
}

TEST(Rope, RefusesAnInnerValueThatIsReadElsewhere) {
    EXPECT_EQ(ropeRefusal("output %y", "output %y, %qr"),
              "no value inside of the pattern is used elsewhere; aten.cat (%qr) is also used by the graph's "
              "outputs");
}

TEST(Rope, RefusesAnotherPassThrough) {
    const std::string text = changed(partial(), "tensors=[%qo, %qrest]", "tensors=[%qo, %qo4]");
    const std::string full = changed(
        text, "%qe:",
        "%qo4: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qt, dim=-1, start=0, end=4) @\"attn\"\n%qe:");
    EXPECT_EQ(refusal(canonical(full), "rope"), "the other columns pass through; aten.slice (%qo4)");
}

} // namespace
} // namespace workbench::test
