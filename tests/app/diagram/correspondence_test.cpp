#include "app/diagram/correspondence.h"
#include "core/graph/text.h"
#include "tests/fusion/support/texts.h"

#include <gtest/gtest.h>

namespace workbench::test {
namespace {

Graph canonicalOf(std::string_view text) {
    Result<Graph> parsed = parseGraph(text);
    EXPECT_TRUE(parsed.ok());
    Result<Graph> graph = canonicalize(*parsed);
    EXPECT_TRUE(graph.ok());
    return std::move(graph).value();
}

struct Rewrite {
    Graph graph;
    Analysis analysis;
    Rewritten rewritten;

    Rewrite(std::string_view text, std::initializer_list<std::string_view> applied)
        : graph(canonicalOf(text)) {
        analysis = analyze(graph);
        Decisions decisions;
        for (const std::string_view id : applied)
            decisions.emplace(id, Decision::apply);
        Result<Rewritten> result = rewrite(graph, analysis, decisions);
        EXPECT_TRUE(result.ok());
        rewritten = std::move(result).value();
    }

    Correspondence correspondence() const { return {graph, analysis, rewritten}; }
    const Graph& side(GraphSide side) const { return side == GraphSide::original ? graph : rewritten.graph; }
    ValueId value(GraphSide where, std::string_view name) const {
        const Graph& graph = side(where);
        for (std::size_t i = 0; i < graph.values.size(); ++i)
            if (graph.values[i].name == name)
                return static_cast<ValueId>(i);
        ADD_FAILURE() << "no value " << name;
        return 0;
    }
    NodeId node(GraphSide where, std::string_view result) const {
        return side(where).value(value(where, result)).producer;
    }
    /// First results of the partners: "q k v".
    std::string partners(GraphSide where, std::string_view result) const {
        const Graph& other = side(where == GraphSide::original ? GraphSide::rewritten : GraphSide::original);
        std::string text;
        const Correspondence map = correspondence();
        for (const NodeId partner : map.partners(where, node(where, result)))
            text += (text.empty() ? "" : " ") + other.value(other.node(partner).outputs.front()).name;
        return text;
    }
};

constexpr std::string_view kNorm = R"(
module "" Model
module "layers.0" Layer
module "layers.0.norm" LlamaRMSNorm
parameter %w: f32[64] "layers.0.norm.weight"
input %x: f32[1, s0, 64]
%p: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%x, exponent=2) @"layers.0.norm"
%m: f32[1, s0, 1] = aten.mean.dim(self=%p, dim=[-1], keepdim=true) @"layers.0.norm"
%e: f32[1, s0, 1] = aten.add.Tensor(self=%m, other=1e-05) @"layers.0.norm"
%r: f32[1, s0, 1] = aten.rsqrt.default(self=%e) @"layers.0.norm"
%n: f32[1, s0, 64] = aten.mul.Tensor(self=%x, other=%r) @"layers.0.norm"
%y: f32[1, s0, 64] = aten.mul.Tensor(self=%w, other=%n) @"layers.0.norm"
output %y
)";

constexpr GraphSide kOriginal = GraphSide::original, kRewritten = GraphSide::rewritten;

TEST(Correspondence, WithoutDecisionsEveryNodeIsItsOwnPartner) {
    const Rewrite rewrite(kAttention, {});
    const Correspondence map = rewrite.correspondence();
    for (NodeId node = 0; node < static_cast<NodeId>(rewrite.graph.nodes.size()); ++node) {
        EXPECT_EQ(map.fate(kOriginal, node), Fate::kept);
        EXPECT_EQ(map.partners(kOriginal, node), std::vector<NodeId>{node});
    }
    EXPECT_TRUE(map.steps().empty());
}

TEST(Correspondence, ThreeProjectionsMergeIntoOneAndTheSplitIsAdded) {
    const Rewrite rewrite(kAttention, {"qkv@attn"});
    const Correspondence map = rewrite.correspondence();
    EXPECT_EQ(map.fate(kOriginal, rewrite.node(kOriginal, "q")), Fate::merged);
    EXPECT_EQ(rewrite.partners(kOriginal, "q"), rewrite.partners(kOriginal, "v"));
    const NodeId split = rewrite.node(kRewritten, "q");
    EXPECT_EQ(map.fate(kRewritten, split), Fate::added);
    const NodeId product =
        rewrite.rewritten.outcomes[static_cast<std::size_t>(map.site(kRewritten, split))].replacement[0];
    EXPECT_EQ(map.fate(kRewritten, product), Fate::merged);
    EXPECT_EQ(rewrite.partners(kRewritten, "q"), "q k v");
}

TEST(Correspondence, NodesOutsideOfTheSiteAreKept) {
    const Rewrite rewrite(kAttention, {"qkv@attn"});
    const Correspondence map = rewrite.correspondence();
    EXPECT_EQ(map.fate(kOriginal, rewrite.node(kOriginal, "a")), Fate::kept);
    EXPECT_EQ(map.site(kOriginal, rewrite.node(kOriginal, "a")), -1);
    EXPECT_EQ(rewrite.partners(kRewritten, "a"), "a");
}

TEST(Correspondence, AFusedOpTakesTheWholeSiteOver) {
    const Rewrite rewrite(kAttention, {"rope@attn"});
    const Correspondence map = rewrite.correspondence();
    EXPECT_EQ(map.fate(kOriginal, rewrite.node(kOriginal, "qn")), Fate::merged);
    EXPECT_EQ(map.fate(kRewritten, rewrite.node(kRewritten, "qe")), Fate::merged);
    EXPECT_EQ(rewrite.partners(kOriginal, "qn"), "qe");
}

TEST(Correspondence, ANodeThatNothingReadsAnyMoreHasNoPartner) {
    const Rewrite rewrite(kNorm, {"rms-norm@layers.0.norm"});
    Rewritten cut = rewrite.rewritten;
    cut.graph.nodes.back().origins.erase(cut.graph.nodes.back().origins.begin());
    const Correspondence map(rewrite.graph, rewrite.analysis, cut);
    EXPECT_EQ(map.fate(kOriginal, 0), Fate::removed);
    EXPECT_TRUE(map.partners(kOriginal, 0).empty());
    EXPECT_EQ(map.fate(kOriginal, 1), Fate::merged);
}

TEST(Correspondence, WeightsFollowWhatTheyWereMergedInto) {
    const Rewrite rewrite(kAttention, {"qkv@attn"});
    const Correspondence map = rewrite.correspondence();
    const ValueId weight = rewrite.value(kOriginal, "wk");
    ASSERT_EQ(map.valuePartners(kOriginal, weight).size(), 1u);
    const ValueId merged = map.valuePartners(kOriginal, weight).front();
    EXPECT_EQ(map.valueFate(kOriginal, weight), Fate::merged);
    EXPECT_EQ(map.valueFate(kRewritten, merged), Fate::merged);
    EXPECT_EQ(map.valuePartners(kRewritten, merged).size(), 3u);
    EXPECT_EQ(map.valueFate(kOriginal, rewrite.value(kOriginal, "x")), Fate::kept);
}

TEST(Correspondence, StepsComeInTheOrderOfTheOriginalWithTheScopeThatShowsThem) {
    const Rewrite rewrite(kAttention, {"rope@attn", "qkv@attn"});
    const std::vector<RewriteStep> steps = rewrite.correspondence().steps();
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(rewrite.analysis.sites[steps[0].site].id, "qkv@attn");
    EXPECT_EQ(rewrite.analysis.sites[steps[1].site].id, "rope@attn");
    EXPECT_EQ(steps[0].scope, "attn");
    EXPECT_EQ(steps[0].expanded, std::set<std::string>{"attn.q_proj"});
    EXPECT_EQ(steps[0].original.size(), 3u);
    EXPECT_EQ(steps[0].rewritten.size(), 2u);
}

TEST(Correspondence, AChangeInALeafModuleIsShownInTheModuleAroundIt) {
    const Rewrite rewrite(kNorm, {"rms-norm@layers.0.norm"});
    const std::vector<RewriteStep> steps = rewrite.correspondence().steps();
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].scope, "layers.0");
    EXPECT_EQ(steps[0].expanded, std::set<std::string>{"layers.0.norm"});
}

TEST(Correspondence, CommonModuleEndsAtABorderBetweenNames) {
    EXPECT_EQ(commonModule("model.layers.1", "model.layers.10"), "model.layers");
    EXPECT_EQ(commonModule("model.layers.1.mlp", "model.layers.1"), "model.layers.1");
    EXPECT_EQ(commonModule("model", "lm_head"), "");
    EXPECT_EQ(commonModule("", "model"), "");
    EXPECT_EQ(commonModule("a.b", "a.b"), "a.b");
}

} // namespace
} // namespace workbench::test
