#include "core/graph/verify.h"
#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

namespace workbench::test {
namespace {

Decisions all(const Analysis& analysis, Decision decision) {
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions[site.id] = decision;
    return decisions;
}

Rewritten rewriteWith(const Graph& graph, const Analysis& analysis, const Decisions& decisions) {
    Result<Rewritten> result = rewrite(graph, analysis, decisions);
    if (!result) {
        ADD_FAILURE() << result.error().message;
        return {};
    }
    return result.value();
}

const SiteOutcome& outcomeOf(const Analysis& analysis, const Rewritten& rewritten, std::string_view id) {
    for (std::size_t i = 0; i < analysis.sites.size(); ++i)
        if (analysis.sites[i].id == id)
            return rewritten.outcomes[i];
    ADD_FAILURE() << "no site " << id;
    return rewritten.outcomes.front();
}

TEST(Rewrite, NothingDecidedChangesNothing) {
    const Graph graph = canonical(kAttention);
    const Rewritten result = rewriteWith(graph, analyze(graph), {});
    EXPECT_EQ(print(result.graph), print(graph));
}

TEST(Rewrite, CandidatesDoNotDependOnDecisions) {
    const Graph graph = canonical(kAttention);
    const std::string before = print(graph);
    const Analysis first = analyze(graph);
    rewriteWith(graph, first, all(first, Decision::apply));
    EXPECT_EQ(print(graph), before);
    const Analysis second = analyze(graph);
    ASSERT_EQ(first.sites.size(), second.sites.size());
    for (std::size_t i = 0; i < first.sites.size(); ++i)
        EXPECT_EQ(first.sites[i].id, second.sites[i].id);
}

TEST(Rewrite, TellsTheStateOfEverySite) {
    const Graph graph = canonical(kAttention);
    const Analysis analysis = analyze(graph);
    const Rewritten result =
        rewriteWith(graph, analysis, {{"qkv@attn", Decision::apply}, {"rope@attn", Decision::reject}});
    EXPECT_EQ(outcomeOf(analysis, result, "qkv@attn").state, SiteOutcome::State::applied);
    EXPECT_EQ(outcomeOf(analysis, result, "rope@attn").state, SiteOutcome::State::rejected);
    EXPECT_EQ(outcomeOf(analysis, result, "attention@attn").state, SiteOutcome::State::present);
    EXPECT_EQ(outcomeOf(analysis, result, "qk-norm-rope@attn").state, SiteOutcome::State::refused);
}

TEST(Rewrite, TellsWhatASiteReadsAndMakes) {
    const Graph graph = canonical(kAttention);
    const Analysis analysis = analyze(graph);
    const Rewritten result = rewriteWith(graph, analysis, all(analysis, Decision::apply));
    const SiteOutcome& outcome = outcomeOf(analysis, result, "qkv@attn");
    const auto names = [&](const std::vector<ValueId>& values) {
        std::string text;
        for (const ValueId value : values)
            text += graph.value(value).name + " ";
        return text;
    };
    EXPECT_EQ(names(outcome.inputs), "x wq wk wv ");
    EXPECT_EQ(names(outcome.outputs), "q k v ");
    ASSERT_EQ(outcome.replacement.size(), 2u);
    EXPECT_EQ(result.graph.node(outcome.replacement[0]).op, "aten.linear.default");
    EXPECT_EQ(result.graph.node(outcome.replacement[1]).op, "aten.split_with_sizes.default");
}

TEST(Rewrite, EveryNodeKnowsItsOrigins) {
    const Graph graph = canonical(kAttention);
    const Analysis analysis = analyze(graph);
    const Rewritten result = rewriteWith(graph, analysis, all(analysis, Decision::apply));
    for (const Node& node : result.graph.nodes) {
        ASSERT_FALSE(node.origins.empty()) << node.op;
        if (node.origins.size() == 1) {
            EXPECT_EQ(graph.node(node.origins[0]).op, node.op);
        }
    }
    EXPECT_TRUE(verify(result.graph).ok());
}

TEST(Rewrite, DropsMergedParametersUnlessOthersReadThem) {
    const std::string kept = rewrittenBy(canonical(kAttention), "rope"),
                      merged = rewrittenBy(canonical(kAttention), "qkv");
    EXPECT_NE(kept.find("parameter %wq"), std::string::npos);
    EXPECT_EQ(merged.find("parameter %wq"), std::string::npos);
}

TEST(Rewrite, RefusesTheAnalysisOfAnotherGraph) {
    const Graph graph = canonical(kAttention);
    const Analysis other = analyze(canonical("input %x: f32[4]\noutput %x\n"));
    const Result<Rewritten> result = rewrite(graph, other, {});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("another graph"), std::string::npos);
}

TEST(Rewrite, SitesOfOneModuleAreNumberedInNodeOrder) {
    constexpr std::string_view norms = R"(
module "" Model
module "n" Norm
input %x: f32[1, s0, 4]
%a2: f32[1, s0, 4] = aten.pow.Tensor_Scalar(self=%x, exponent=2) @"n"
%am: f32[1, s0, 1] = aten.mean.dim(self=%a2, dim=[-1], keepdim=true) @"n"
%ae: f32[1, s0, 1] = aten.add.Tensor(self=%am, other=1e-05) @"n"
%ar: f32[1, s0, 1] = aten.rsqrt.default(self=%ae) @"n"
%a: f32[1, s0, 4] = aten.mul.Tensor(self=%x, other=%ar) @"n"
%b2: f32[1, s0, 4] = aten.pow.Tensor_Scalar(self=%a, exponent=2) @"n"
%bm: f32[1, s0, 1] = aten.mean.dim(self=%b2, dim=[-1], keepdim=true) @"n"
%be: f32[1, s0, 1] = aten.add.Tensor(self=%bm, other=1e-05) @"n"
%br: f32[1, s0, 1] = aten.rsqrt.default(self=%be) @"n"
%b: f32[1, s0, 4] = aten.mul.Tensor(self=%a, other=%br) @"n"
output %b
)";
    EXPECT_EQ(applicable(analyze(canonical(norms)), "rms-norm"), "rms-norm@n rms-norm@n#1");
}

/// One sum, two norms: the first takes the sum, the second only its norm.
TEST(Rewrite, OneSumUnderTwoNormsConflicts) {
    constexpr std::string_view text = R"(
module "" Layer
module "a" Norm
module "b" Norm
input %x: f32[1, s0, 4]
input %r: f32[1, s0, 4]
%sum: f32[1, s0, 4] = aten.add.Tensor(self=%x, other=%r) @""
%a2: f32[1, s0, 4] = aten.pow.Tensor_Scalar(self=%sum, exponent=2) @"a"
%am: f32[1, s0, 1] = aten.mean.dim(self=%a2, dim=[-1], keepdim=true) @"a"
%ae: f32[1, s0, 1] = aten.add.Tensor(self=%am, other=1e-05) @"a"
%ar: f32[1, s0, 1] = aten.rsqrt.default(self=%ae) @"a"
%an: f32[1, s0, 4] = aten.mul.Tensor(self=%sum, other=%ar) @"a"
%b2: f32[1, s0, 4] = aten.pow.Tensor_Scalar(self=%sum, exponent=2) @"b"
%bm: f32[1, s0, 1] = aten.mean.dim(self=%b2, dim=[-1], keepdim=true) @"b"
%be: f32[1, s0, 1] = aten.add.Tensor(self=%bm, other=1e-06) @"b"
%br: f32[1, s0, 1] = aten.rsqrt.default(self=%be) @"b"
%bn: f32[1, s0, 4] = aten.mul.Tensor(self=%sum, other=%br) @"b"
output %an, %bn
)";
    const Graph graph = canonical(text);
    const Analysis analysis = analyze(graph);
    const Rewritten result = rewriteWith(graph, analysis, all(analysis, Decision::apply));
    EXPECT_EQ(outcomeOf(analysis, result, "add-rms-norm@a").state, SiteOutcome::State::applied);
    EXPECT_EQ(outcomeOf(analysis, result, "add-rms-norm@b").state, SiteOutcome::State::conflicts);
    EXPECT_EQ(outcomeOf(analysis, result, "add-rms-norm@b").with, "add-rms-norm@a");
    EXPECT_EQ(outcomeOf(analysis, result, "rms-norm@b").state, SiteOutcome::State::applied);
}

/// Rotations of `q` and `k` that feed an attention in the module; `p` prefixes the values.
std::string rotatedAttention(const std::string& p, const std::string& q, const std::string& k) {
    std::string queries, keys;
    for (const auto& [out, in] : {std::pair{p + "q", q}, std::pair{p + "k", k}}) {
        const std::string at = " @\"" + p + "\"\n";
        std::string& text = out.back() == 'q' ? queries : keys;
        text = "%" + out + "c: f32[1, 1, s0, 4] = aten.mul.Tensor(self=%" + in + ", other=%c)" + at + "%" +
               out + "1: f32[1, 1, s0, 2] = aten.slice.Tensor(self=%" + in + ", dim=3, start=0, end=2)" + at +
               "%" + out + "2: f32[1, 1, s0, 2] = aten.slice.Tensor(self=%" + in +
               ", dim=3, start=2, end=4)" + at + "%" + out + "n: f32[1, 1, s0, 2] = aten.neg.default(self=%" +
               out + "2)" + at + "%" + out + "r: f32[1, 1, s0, 4] = aten.cat.default(tensors=[%" + out +
               "n, %" + out + "1], dim=3)" + at + "%" + out + "s: f32[1, 1, s0, 4] = aten.mul.Tensor(self=%" +
               out + "r, other=%s)" + at + "%" + out + ": f32[1, 1, s0, 4] = aten.add.Tensor(self=%" + out +
               "c, other=%" + out + "s)" + at;
    }
    return queries + "|" + keys;
}

/// The rotated query of each attention is the input of the other's key: either pair can be fused, not both.
TEST(Rewrite, SitesThatWaitForEachOtherConflict) {
    const std::string a = rotatedAttention("a", "x", "bq"), b = rotatedAttention("b", "z", "aq");
    const std::string text = "module \"\" Model\nmodule \"a\" Attention\nmodule \"b\" Attention\ninput %x: "
                             "f32[1, 1, s0, 4]\ninput %z: f32[1, 1, s0, 4]\n"
                             "input %v: f32[1, 1, s0, 4]\ninput %p: i64[1, s0]\ninput %cos: f32[1, s0, "
                             "4]\ninput %sin: f32[1, s0, 4]\n"
                             "%c: f32[1, 1, s0, 4] = aten.unsqueeze.default(self=%cos, dim=1) @\"\"\n"
                             "%s: f32[1, 1, s0, 4] = aten.unsqueeze.default(self=%sin, dim=1) @\"\"\n" +
                             a.substr(0, a.find('|')) + b.substr(0, b.find('|')) + a.substr(a.find('|') + 1) +
                             b.substr(b.find('|') + 1) +
                             "%oa: f32[1, s0, 1, 4] = workbench.attention(query=%aq, key=%ak, value=%v, "
                             "positions=%p, layer=0, scale=1.0, mask=\"causal\", "
                             "window=0, softcap=0.0, sinks=none, slopes=none) @\"a\"\n"
                             "%ob: f32[1, s0, 1, 4] = workbench.attention(query=%bq, key=%bk, value=%v, "
                             "positions=%p, layer=1, scale=1.0, mask=\"causal\", "
                             "window=0, softcap=0.0, sinks=none, slopes=none) @\"b\"\noutput %oa, %ob\n";
    const Graph graph = canonical(text);
    const Analysis analysis = analyze(graph);
    ASSERT_EQ(applicable(analysis, "rope"), "rope@a rope@b");
    const Rewritten result = rewriteWith(graph, analysis, all(analysis, Decision::apply));
    EXPECT_EQ(outcomeOf(analysis, result, "rope@a").state, SiteOutcome::State::applied);
    EXPECT_EQ(outcomeOf(analysis, result, "rope@b").state, SiteOutcome::State::conflicts);
    EXPECT_EQ(outcomeOf(analysis, result, "rope@b").with, "rope@a");
    EXPECT_TRUE(verify(result.graph).ok());
}

} // namespace
} // namespace workbench::test
