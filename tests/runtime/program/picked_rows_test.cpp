#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "runtime/program/picked_rows.h"
#include "tests/runtime/program/support.h"
#include "tests/support/graph_from.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace workbench::test {
namespace {

/// What follows the last attention of a decoder, with both spellings of a norm.
const std::string kTail = R"(
input %x: f32[1, s0, 8]
input %a: f32[1, s0, 2, 4]
input %rows: i64[s1]
parameter %o: f32[8, 8] "o"
parameter %gate_up: f32[32, 8] "gate_up"
parameter %down: f32[8, 16] "down"
parameter %head: f32[12, 8] "head"
%flat: f32[1, s0, 8] = aten.view.default(self=%a, size=[1, s0, -1])
%projected: f32[1, s0, 8] = aten.linear.default(input=%flat, weight=%o)
%normed: f32[1, s0, 8], %sum: f32[1, s0, 8] = workbench.add_rms_norm(input=%projected, residual=%x, weight=none, eps=1e-05, weight_offset=0.0, cast="before_weight")
%merged: f32[1, s0, 32] = aten.linear.default(input=%normed, weight=%gate_up)
%gate: f32[1, s0, 16], %up: f32[1, s0, 16] = aten.split_with_sizes.default(self=%merged, split_sizes=[16, 16], dim=-1)
%active: f32[1, s0, 16] = aten.silu.default(self=%gate)
%product: f32[1, s0, 16] = aten.mul.Tensor(self=%active, other=%up)
%back: f32[1, s0, 8] = aten.linear.default(input=%product, weight=%down)
%y: f32[1, s0, 8] = aten.add.Tensor(self=%sum, other=%back)
%squares: f32[1, s0, 8] = aten.pow.Tensor_Scalar(self=%y, exponent=2)
%mean: f32[1, s0, 1] = aten.mean.dim(self=%squares, dim=[-1], keepdim=true)
%inverse: f32[1, s0, 1] = aten.rsqrt.default(self=%mean)
%last: f32[1, s0, 8] = aten.mul.Tensor(self=%y, other=%inverse)
%picked: f32[1, s1, 8] = aten.index.Tensor(self=%last, indices=[none, %rows])
%logits: f32[1, s1, 12] = aten.linear.default(input=%picked, weight=%head)
output %logits
)";

std::map<std::string, at::Tensor> weights() {
    const auto of = [](std::int64_t rows, std::int64_t columns) {
        return at::arange(rows * columns, at::kFloat).sin().reshape({rows, columns});
    };
    return {{"o", of(8, 8)}, {"gate_up", of(32, 8)}, {"down", of(8, 16)}, {"head", of(12, 8)}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

const Value* valueOf(const Graph& graph, const std::string& name) {
    const auto value = std::ranges::find(graph.values, name, &Value::name);
    return value == graph.values.end() ? nullptr : &*value;
}

/// Whether the graph computes the value for the picked rows alone.
bool isLate(const Graph& graph, const std::string& name) {
    const Value* value = valueOf(graph, name);
    return value != nullptr && value->meta.shape[1].text() == "s1";
}

std::vector<at::Tensor> inputs(const std::vector<std::int64_t>& rows) {
    return {at::arange(40, at::kFloat).cos().reshape({1, 5, 8}),
            at::arange(40, at::kFloat).sin().reshape({1, 5, 2, 4}), longs(rows, {std::ssize(rows)})};
}

TEST(PickedRows, ComputesWhatFollowsTheAttentionForThePickedTokensAlone) {
    const Graph graph = pickRowsEarly(graphFrom(kTail));
    EXPECT_TRUE(verify(graph)) << print(graph);
    for (const char* name :
         {"flat", "projected", "normed", "sum", "merged", "gate", "product", "y", "mean", "last"})
        EXPECT_TRUE(isLate(graph, name)) << name;
    EXPECT_TRUE(isLate(graph, "a_rows"));
    EXPECT_TRUE(isLate(graph, "x_rows"));
}

TEST(PickedRows, GivesTheSameNumbersForEveryChoiceOfRows) {
    const auto whole = compile(kTail, weights());
    auto early = whole->withGraph(pickRowsEarly(whole->graph()));
    ASSERT_TRUE(early) << early.error().message;
    for (const std::vector<std::int64_t>& rows :
         {std::vector<std::int64_t>{4}, {0, 1, 2, 3, 4}, {3, 0, 3}, {-1}, {}})
        for (int run = 0; run < 3; ++run) { // the third in memory that stays
            const auto expected = whole->run(inputs(rows));
            const auto actual = early->run(inputs(rows));
            ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().message);
            EXPECT_EQ(expected->at(0).sizes(), actual->at(0).sizes());
            EXPECT_TRUE(at::allclose(expected->at(0), actual->at(0), 1e-6, 1e-6)) << rows.size();
        }
    EXPECT_EQ(early->parameterBytes(), whole->parameterBytes());
}

TEST(PickedRows, LeavesWhatAnotherReaderOrTheOutputNeedsOfAllTokens) {
    const Graph graph = pickRowsEarly(graphFrom(replaced(kTail, "output %logits", "output %logits, %sum")));
    EXPECT_TRUE(verify(graph)) << print(graph);
    EXPECT_FALSE(isLate(graph, "sum"));
    EXPECT_FALSE(isLate(graph, "projected")); // %sum is made of it
    EXPECT_TRUE(isLate(graph, "merged"));
    EXPECT_TRUE(isLate(graph, "y"));
}

TEST(PickedRows, StopsAtAnOperatorInWhichTokensMeet) {
    for (const char* mixing :
         {"aten.cumsum.default(self=%back, dim=1)", "aten.softmax.int(self=%back, dim=1)",
          "aten.flip.default(self=%back, dims=[1])"}) {
        const Graph graph = pickRowsEarly(
            graphFrom(replaced(replaced(kTail, "other=%back)", "other=%mixed)"), "%y: f32[1, s0, 8] =",
                               "%mixed: f32[1, s0, 8] = " + std::string(mixing) + "\n%y: f32[1, s0, 8] =")));
        EXPECT_TRUE(verify(graph)) << print(graph);
        EXPECT_TRUE(isLate(graph, "y")) << mixing;
        EXPECT_FALSE(isLate(graph, "mixed")) << mixing;
        EXPECT_FALSE(isLate(graph, "back")) << mixing;
    }
}

TEST(PickedRows, StopsWhereTokensAreNoRowsOfTheirOwn) {
    // Two tokens in one row, rows of a transposed value, and a mean over all tokens that every row subtracts.
    const Graph mean = pickRowsEarly(
        graphFrom(replaced(replaced(kTail, "%squares: f32[1, s0, 8] = aten.pow.Tensor_Scalar(self=%y",
                                    "%all: f32[1, 1, 8] = aten.mean.dim(self=%y, dim=[1], keepdim=true)\n"
                                    "%centred: f32[1, s0, 8] = aten.sub.Tensor(self=%y, other=%all)\n"
                                    "%squares: f32[1, s0, 8] = aten.pow.Tensor_Scalar(self=%centred"),
                           "%last: f32[1, s0, 8] = aten.mul.Tensor(self=%y",
                           "%last: f32[1, s0, 8] = aten.mul.Tensor(self=%centred")));
    EXPECT_TRUE(verify(mean)) << print(mean);
    EXPECT_TRUE(isLate(mean, "centred"));
    EXPECT_FALSE(isLate(mean, "y"));
    const auto program = compile(print(mean), weights());
    ASSERT_TRUE(program);
    EXPECT_TRUE(program->run(inputs({2})));
}

/// Runs both graphs with 1, 2 and 5 tokens.
void expectSameNumbers(const std::string& text) {
    const auto whole = compile(text, weights());
    ASSERT_TRUE(whole);
    auto early = whole->withGraph(pickRowsEarly(whole->graph()));
    ASSERT_TRUE(early) << early.error().message;
    EXPECT_TRUE(verify(early->graph())) << print(early->graph());
    for (const std::int64_t tokens : {1, 2, 5})
        for (int run = 0; run < 3; ++run) {
            const std::vector<at::Tensor> given{
                at::arange(tokens * 8, at::kFloat).cos().reshape({1, tokens, 8}),
                at::arange(tokens * 8, at::kFloat).reshape({1, tokens, 2, 4}), longs({tokens - 1}, {1})};
            const auto expected = whole->run(given);
            const auto actual = early->run(given);
            ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().message);
            EXPECT_TRUE(at::allclose(expected->at(0), actual->at(0), 1e-6, 1e-6)) << tokens << " tokens";
        }
}

TEST(PickedRows, PicksRowsOfViewsWhoseStridesAreOthersWithOneToken) {
    // A gate that is a part of a merged product, and heads in another order: with one token both look
    // contiguous.
    expectSameNumbers(replaced(
        replaced(
            kTail, "%flat: f32[1, s0, 8] =",
            "%wide: f32[1, s0, 32] = aten.linear.default(input=%x, weight=%gate_up)\n"
            "%one: f32[1, s0, 8], %g: f32[1, s0, 8], %two: f32[1, s0, 16] = aten.split_with_sizes.default("
            "self=%wide, split_sizes=[8, 8, 16], dim=-1)\n%flat: f32[1, s0, 8] ="),
        "residual=%x", "residual=%g"));
    expectSameNumbers(
        replaced(replaced(kTail, "input %a: f32[1, s0, 2, 4]\n", "input %b: f32[1, s0, 2, 4]\n"),
                 "%flat: f32[1, s0, 8] =",
                 "%turned: f32[1, 2, s0, 4] = aten.transpose.int(self=%b, dim0=1, dim1=2)\n"
                 "%doubled: f32[1, 2, s0, 4] = aten.add.Tensor(self=%turned, other=%turned)\n"
                 "%a: f32[1, s0, 2, 4] = aten.transpose.int(self=%doubled, dim0=1, dim1=2)\n"
                 "%flat: f32[1, s0, 8] ="));
}

TEST(PickedRows, LeavesThePickedRowsContiguous) {
    expectSameNumbers(
        replaced(replaced(kTail, "%picked: f32[1, s1, 8] = aten.index.Tensor(self=%last,",
                          "%half: f32[1, s0, 4] = aten.slice.Tensor(self=%last, dim=-1, start=2, end=6)\n"
                          "%picked: f32[1, s1, 4] = aten.index.Tensor(self=%half,"),
                 "%logits: f32[1, s1, 12] = aten.linear.default(input=%picked, weight=%head)",
                 "%logits: f32[2*s1, 2] = aten.view.default(self=%picked, size=[-1, 2])"));
}

TEST(PickedRows, KeepsANormOverTokensWhole) {
    const Graph graph = pickRowsEarly(graphFrom(
        replaced(kTail, "%last: f32[1, s0, 8] = aten.mul.Tensor(self=%y, other=%inverse)",
                 "%last: f32[1, s0, 8] = aten.layer_norm.default(input=%y, normalized_shape=[s0, 8])")));
    EXPECT_FALSE(isLate(graph, "last"));
    EXPECT_FALSE(isLate(graph, "y"));
}

TEST(PickedRows, FindsANameThatIsFree) {
    const Graph graph = pickRowsEarly(
        graphFrom(replaced(replaced(kTail, "input %rows", "input %x_rows"), "%rows]", "%x_rows]")));
    EXPECT_TRUE(verify(graph)) << print(graph);
    EXPECT_TRUE(isLate(graph, "x_rows_"));
}

TEST(PickedRows, ReturnsAGraphWithoutSuchAPickAsItIs) {
    for (const std::string& text :
         {replaced(kTail, "indices=[none, %rows]", "indices=[%rows, none]"),
          replaced(replaced(kTail, "input %rows: i64[s1]\n", "input %given: i64[s1]\n"), "%flat: f32",
                   "%rows: i64[s1] = aten.add.Tensor(self=%given, other=0)\n%flat: f32")}) {
        const auto graph = parseGraph(text);
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(print(pickRowsEarly(*graph)), print(*graph));
    }
}

} // namespace
} // namespace workbench::test
