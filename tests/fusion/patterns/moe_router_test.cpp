#include "tests/fusion/support/experts.h"
#include "tests/fusion/support/graphs.h"

#include <utility>
#include <vector>

namespace workbench::test {
namespace {

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

std::string router(const Changes& changes = {}) {
    std::string text(kExperts);
    for (const auto& [from, to] : changes)
        text = changed(std::move(text), from, to);
    return text;
}

/// The line of the fused op, "" when there is none.
std::string route(const Changes& changes) {
    const std::string text = rewrittenBy(canonical(router(changes)), "moe-router");
    const std::size_t op = text.find("workbench.moe_route");
    return op == std::string::npos
               ? ""
               : text.substr(text.rfind('\n', op) + 1, text.find('\n', op) - text.rfind('\n', op) - 1);
}

std::string routerRefusal(const Changes& changes) {
    return refusal(canonical(router(changes)), "moe-router");
}

constexpr std::string_view kTopK =
    "%top: f32[s0, 2], %chosen: i64[s0, 2] = aten.topk.default(self=%probs, k=2)";
const Changes kUnnormalised{
    {"%share: f32[s0, 2] = aten.div.Tensor(self=%top, other=%total) @\"mlp.gate\"\n", ""},
    {"%total: f32[s0, 1] = aten.sum.dim_IntList(self=%top, dim=[-1], keepdim=true) @\"mlp.gate\"\n", ""},
    {"self=%share", "self=%top"}};

TEST(MoeRouter, SoftmaxSelectionAndRenormalisationBecomeOneOp) {
    EXPECT_EQ(route({}),
              "%weights: bf16[s0, 2], %chosen: i64[s0, 2] = workbench.moe_route(logits=%logits, top_k=2, "
              "order=\"softmax_first\", renormalize=true, sorted=true, dtype=dtype:bf16)");
}

TEST(MoeRouter, SiteIsNamedAfterTheRouter) {
    EXPECT_EQ(applicable(analyze(canonical(kExperts)), "moe-router"), "moe-router@mlp.gate");
}

TEST(MoeRouter, LogitsThatAreWidenedFirstGiveTheSameOp) {
    EXPECT_EQ(
        route({{"%probs: f32[s0, 6] = aten.softmax.int(self=%logits, dim=-1, dtype=dtype:f32)",
                "%wide: f32[s0, 6] = aten._to_copy.default(self=%logits, dtype=dtype:f32) @\"mlp.gate\"\n"
                "%probs: f32[s0, 6] = aten.softmax.int(self=%wide, dim=1)"}}),
        route({}));
}

TEST(MoeRouter, WeightsMayStayAsSelected) {
    EXPECT_EQ(route(kUnnormalised),
              "%weights: bf16[s0, 2], %chosen: i64[s0, 2] = workbench.moe_route(logits=%logits, top_k=2, "
              "order=\"softmax_first\", renormalize=false, sorted=true, dtype=dtype:bf16)");
}

TEST(MoeRouter, SelectionMayComeBeforeTheSoftmax) {
    Changes changes = kUnnormalised;
    changes.emplace_back("%probs: f32[s0, 6] = aten.softmax.int(self=%logits, dim=-1, dtype=dtype:f32)",
                         "%probs: f32[s0, 6] = aten._to_copy.default(self=%logits, dtype=dtype:f32)");
    changes.emplace_back(
        "%weights: bf16",
        "%soft: f32[s0, 2] = aten.softmax.int(self=%top, dim=-1) @\"mlp.gate\"\n%weights: bf16");
    changes.emplace_back("_to_copy.default(self=%top", "_to_copy.default(self=%soft");
    EXPECT_EQ(route(changes),
              "%weights: bf16[s0, 2], %chosen: i64[s0, 2] = workbench.moe_route(logits=%logits, top_k=2, "
              "order=\"top_k_first\", renormalize=false, sorted=true, dtype=dtype:bf16)");
}

TEST(MoeRouter, AnUnsortedSelectionSaysSo) {
    EXPECT_NE(route({{kTopK, "%top: f32[s0, 2], %chosen: i64[s0, 2] = aten.topk.default(self=%probs, k=2, "
                             "dim=-1, largest=true, sorted=false)"}})
                  .find("sorted=false"),
              std::string::npos);
}

TEST(MoeRouter, ADivisionByMoreThanTheSumStaysInTheGraph) {
    const Changes changes{{"%share: f32[s0, 2] = aten.div.Tensor(self=%top, other=%total)",
                           "%more: f32[s0, 1] = aten.add.Tensor(self=%total, other=1e-20) @\"mlp.gate\"\n"
                           "%share: f32[s0, 2] = aten.div.Tensor(self=%top, other=%more)"}};
    EXPECT_EQ(route(changes),
              "%top: f32[s0, 2], %chosen: i64[s0, 2] = workbench.moe_route(logits=%logits, top_k=2, "
              "order=\"softmax_first\", renormalize=false, sorted=true, dtype=dtype:f32)");
    EXPECT_NE(
        rewrittenBy(canonical(router(changes)), "moe-router").find("aten.div.Tensor(self=%top, other=%more)"),
        std::string::npos);
}

TEST(MoeRouter, ASumOverAllExpertsIsNoRenormalisation) {
    EXPECT_NE(route({{"aten.sum.dim_IntList(self=%top, dim=[-1], keepdim=true)",
                      "aten.sum.dim_IntList(self=%top, dim=[0], keepdim=true)"},
                     {"%total: f32[s0, 1]", "%total: f32[1, 2]"}})
                  .find("renormalize=false"),
              std::string::npos);
}

TEST(MoeRouter, ASumDividedByTheWeightsIsNoRenormalisation) {
    EXPECT_NE(route({{"self=%top, other=%total", "self=%total, other=%top"}}).find("renormalize=false"),
              std::string::npos);
}

TEST(MoeRouter, SecondRunChangesNothing) {
    EXPECT_EQ(secondRun(canonical(kExperts)), "");
}

TEST(MoeRouter, RefusesASigmoid) {
    EXPECT_EQ(
        routerRefusal({{"aten.softmax.int(self=%logits, dim=-1, dtype=dtype:f32)",
                        "aten.sigmoid.default(self=%widened)"},
                       {"%probs: f32", "%widened: f32[s0, 6] = aten._to_copy.default(self=%logits, "
                                       "dtype=dtype:f32) @\"mlp.gate\"\n%probs: f32"}}),
        "the scores are a softmax over all experts, before or after the selection; aten.sigmoid (%probs)");
}

TEST(MoeRouter, RefusesScoresThatAreRoundedBeforeTheSelection) {
    EXPECT_EQ(routerRefusal({{"%probs: f32[s0, 6] = aten.softmax.int(self=%logits, dim=-1, dtype=dtype:f32)",
                              "%probs: bf16[s0, 6] = aten.softmax.int(self=%logits, dim=-1)"},
                             {"%top: f32", "%top: bf16"},
                             {"%total: f32", "%total: bf16"},
                             {"%share: f32", "%share: bf16"}}),
              "the scores are f32 when the experts are selected; bf16");
}

TEST(MoeRouter, RefusesASoftmaxOverTheTokens) {
    EXPECT_EQ(
        routerRefusal({{"aten.softmax.int(self=%logits, dim=-1", "aten.softmax.int(self=%logits, dim=0"}}),
        "the scores are a softmax over all experts, before or after the selection; aten.softmax (%probs)");
}

TEST(MoeRouter, RefusesLogitsInBatches) {
    EXPECT_EQ(routerRefusal(
                  {{"%probs: f32[s0, 6] = aten.softmax.int(self=%logits",
                    "%cube: bf16[1, s0, 6] = aten.unsqueeze.default(self=%logits, dim=0) @\"mlp.gate\"\n"
                    "%probs: f32[1, s0, 6] = aten.softmax.int(self=%cube"},
                   {"%top: f32[s0, 2], %chosen: i64[s0, 2]", "%top: f32[1, s0, 2], %chosen: i64[1, s0, 2]"},
                   {"%total: f32[s0, 1]", "%total: f32[1, s0, 1]"},
                   {"%share: f32[s0, 2]", "%share: f32[1, s0, 2]"},
                   {"%weights: bf16[s0, 2]", "%weights: bf16[1, s0, 2]"}}),
              "the logits are [tokens, experts]; 3 dims");
}

TEST(MoeRouter, RefusesScoresWithABias) {
    EXPECT_EQ(
        routerRefusal({{"%top: f32[s0, 2], %chosen", "%biased: f32[s0, 6] = aten.add.Tensor(self=%probs, "
                                                     "other=%bias) @\"mlp.gate\"\n%top: f32[s0, 2], %chosen"},
                       {"aten.topk.default(self=%probs", "aten.topk.default(self=%biased"},
                       {"input %x", "parameter %bias: f32[6] \"mlp.gate.bias\"\ninput %x"}}),
        "the scores are a softmax over all experts, before or after the selection; aten.add (%biased)");
}

TEST(MoeRouter, RefusesTheSmallest) {
    EXPECT_EQ(routerRefusal({{"aten.topk.default(self=%probs, k=2)",
                              "aten.topk.default(self=%probs, k=2, dim=-1, largest=false)"}}),
              "the k largest along the last dim, k a constant; k=2, dim=-1, largest=false");
}

TEST(MoeRouter, RefusesScoresThatAreReadElsewhere) {
    EXPECT_EQ(routerRefusal({{"output %y", "output %y, %probs"}}),
              "no value inside of the pattern is used elsewhere; aten.softmax (%probs) is also used by the "
              "graph's outputs");
}

TEST(MoeRouter, RefusesExpertsThatAreNotSelectedByScore) {
    EXPECT_EQ(routerRefusal({{"%ids: i64[2*s0] = aten.view.default(self=%chosen, size=[-1])",
                              "%next: i64[s0, 2] = aten.add.Tensor(self=%chosen, other=1) @\"mlp.experts\"\n"
                              "%ids: i64[2*s0] = aten.view.default(self=%next, size=[-1])"}}),
              "the experts are those of the top k scores; aten.add.Tensor");
}

} // namespace
} // namespace workbench::test
