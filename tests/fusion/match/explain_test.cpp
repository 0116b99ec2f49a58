#include "fusion/match/context.h"
#include "fusion/match/explain.h"
#include "tests/fusion/support/graphs.h"
#include "tests/fusion/support/texts.h"

#include <algorithm>

namespace workbench::test {
namespace {

constexpr std::string_view kTwoNorms = R"(
module "" Model
module "norm" LlamaRMSNorm
parameter %w: f32[64] "norm.weight"
input %x: f32[1, s0, 64]
%square: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%x, exponent=2) @"norm"
%mean: f32[1, s0, 1] = aten.mean.dim(self=%square, dim=[-1], keepdim=true) @"norm"
%variance: f32[1, s0, 1] = aten.add.Tensor(self=%mean, other=1e-05) @"norm"
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%variance) @"norm"
%normed: f32[1, s0, 64] = aten.mul.Tensor(self=%x, other=%inverse) @"norm"
%y: f32[1, s0, 64] = aten.mul.Tensor(self=%w, other=%normed) @"norm"
%square2: f32[1, s0, 64] = aten.pow.Tensor_Scalar(self=%y, exponent=2) @"norm"
%mean2: f32[1, 1, 64] = aten.mean.dim(self=%square2, dim=[1], keepdim=true) @"norm"
%variance2: f32[1, 1, 64] = aten.add.Tensor(self=%mean2, other=1e-05) @"norm"
%inverse2: f32[1, 1, 64] = aten.rsqrt.default(self=%variance2) @"norm"
%z: f32[1, s0, 64] = aten.mul.Tensor(self=%y, other=%inverse2) @"norm"
output %z
)";

struct Explained {
    Explained(std::string_view text, std::string_view id)
        : graph(canonical(text)), site(siteOf(analyze(graph), id)), conditions(explain(graph, site)) {}

    const CheckedCondition* of(std::string_view condition) const {
        const auto found =
            std::find_if(conditions.begin(), conditions.end(),
                         [&](const CheckedCondition& one) { return one.condition == condition; });
        return found == conditions.end() ? nullptr : &*found;
    }
    std::string found(std::string_view condition) const {
        return of(condition) ? of(condition)->found : "not asked";
    }
    bool allHold() const {
        return std::all_of(conditions.begin(), conditions.end(), [](const auto& one) { return one.holds; });
    }

    Graph graph;
    Site site;
    std::vector<CheckedCondition> conditions;
};

TEST(Explain, TellsWhatWasFoundForEveryConditionOfAMatch) {
    const Explained norm(kTwoNorms, "rms-norm@norm");
    EXPECT_TRUE(norm.allHold());
    EXPECT_EQ(norm.found("the mean runs over the last dim"), "dim=[-1]");
    EXPECT_EQ(norm.found("the epsilon is a constant"), "other=1e-05");
    EXPECT_EQ(norm.found("no mean is subtracted before"), "input %x");
    EXPECT_EQ(norm.found("the weight is a parameter"), "parameter norm.weight");
    EXPECT_EQ(norm.found("no value inside of the pattern is used elsewhere"), "all users are inside");
    ASSERT_NE(norm.of("the mean of the squares"), nullptr);
    EXPECT_EQ(norm.graph.node(norm.of("the mean of the squares")->node).op, "aten.mean.dim");
}

TEST(Explain, ARefusedSiteEndsWithTheConditionThatFailed) {
    const Explained norm(kTwoNorms, "rms-norm@norm#1");
    ASSERT_TRUE(norm.site.miss.has_value());
    ASSERT_GT(norm.conditions.size(), 2u);
    const CheckedCondition& last = norm.conditions.back();
    EXPECT_FALSE(last.holds);
    EXPECT_EQ(last.condition, norm.site.miss->expected);
    EXPECT_EQ(last.found, "dim=[1]");
    EXPECT_EQ(last.node, norm.site.miss->node);
    EXPECT_EQ(std::count_if(norm.conditions.begin(), norm.conditions.end(),
                            [](const auto& one) { return !one.holds; }),
              1);
    EXPECT_EQ(norm.found("a reciprocal square root"), "aten.rsqrt (%inverse2)");
}

TEST(Explain, TellsEachConditionOfANodeOnce) {
    for (const char* id : {"qkv@attn", "rope@attn", "attention@attn"}) {
        const Explained site(kAttention, id);
        EXPECT_TRUE(site.allHold()) << id;
        EXPECT_FALSE(site.conditions.empty()) << id;
        for (std::size_t i = 0; i < site.conditions.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(site.conditions[i].condition == site.conditions[j].condition &&
                             site.conditions[i].node == site.conditions[j].node)
                    << id << ": " << site.conditions[i].condition;
    }
}

TEST(Explain, NamesTheProjectionsThatWereFound) {
    const Explained site(kAttention, "qkv@attn");
    EXPECT_EQ(site.found("query, key and value have a projection each"), "%q, %k, %v");
    EXPECT_EQ(site.found("each weight is used once"), "parameter attn.q_proj.weight is used once");
    EXPECT_EQ(site.found("all projections have a bias, or none"), "no bias here");
}

TEST(Explain, KeepsNothingOfAlternativesThatWereGivenUp) {
    // The rotation's sum and products are tried in both orders.
    const Explained site(kAttention, "rope@attn");
    EXPECT_TRUE(site.allHold());
    EXPECT_EQ(site.found("a product with sin").substr(0, 8), "aten.mul");
    EXPECT_EQ(site.found("the negated part is the second half"), "[4:8:1] of dim 3 of 8");
}

TEST(Explain, ASiteOfAnotherGraphHasNothingToTell) {
    Site other;
    other.pattern = "rms-norm";
    other.id = "rms-norm@elsewhere";
    EXPECT_TRUE(explain(canonical(kTwoNorms), other).empty());
    other.pattern = "no-such-pattern";
    EXPECT_TRUE(explain(canonical(kTwoNorms), other).empty());
}

TEST(Explain, WithoutRecordingNothingIsDescribedThatHolds) {
    const Graph graph = canonical(kTwoNorms);
    const MatchContext context(graph);
    Search search(context, 0);
    int described = 0;
    const auto found = [&] {
        ++described;
        return std::string("text");
    };
    EXPECT_TRUE(search.require(true, 0, "holds", found));
    EXPECT_EQ(described, 0);
    EXPECT_TRUE(search.checked().empty());
    search.record();
    EXPECT_TRUE(search.require(true, 0, "holds", found));
    EXPECT_EQ(described, 1);
    EXPECT_EQ(search.checked().size(), 1u);
}

} // namespace
} // namespace workbench::test
