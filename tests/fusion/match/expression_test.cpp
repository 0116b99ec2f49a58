#include "fusion/match/context.h"
#include "fusion/match/expression.h"
#include "tests/fusion/support/graphs.h"

namespace workbench::test {
namespace {

constexpr std::string_view kSum = R"(
input %x: f32[4, 8]
input %y: f32[4, 8]
%n: f32[4, 8] = aten.neg.default(self=%x)
%m: f32[4, 8] = aten.mul.Tensor(self=%y, other=%n)
%e: f32[4, 8] = aten.exp.default(self=%m)
output %e
)";

/// Matches at the last node.
struct Attempt {
    explicit Attempt(std::string_view text)
        : graph(parsed(text)), context(graph), search(context, static_cast<NodeId>(graph.nodes.size()) - 1) {}

    bool run(const Expression& expression) { return matches(search, search.root(), expression); }
    std::string captured(std::string_view name) const { return graph.value(search.value(name)).name; }

    Graph graph;
    MatchContext context;
    Search search;
};

TEST(Expression, CapturesOperandsInEitherOrder) {
    Attempt attempt(kSum);
    const Expression product =
        commutative("aten.mul", "a product", op("aten.neg", "a negation", {bind("inner")}), bind("other"));
    ASSERT_TRUE(attempt.run(op("aten.exp", "an exponential", {product})));
    EXPECT_EQ(attempt.captured("inner"), "x");
    EXPECT_EQ(attempt.captured("other"), "y");
    EXPECT_EQ(attempt.search.match().nodes, (std::vector<NodeId>{0, 1, 2}));
}

TEST(Expression, TheReasonIsTheConditionThatFailedAfterTheMostHeld) {
    Attempt attempt(kSum);
    const Expression product = commutative(
        "aten.mul", "a product", op("aten.neg", "a negation", {op("aten.sin", "a sine", {any()})}), any());
    EXPECT_FALSE(attempt.run(op("aten.exp", "an exponential", {product})));
    // Not "a negation; input %y", which the first order of operands ran into.
    EXPECT_EQ(attempt.search.miss().expected, "a sine");
    EXPECT_EQ(attempt.search.miss().found, "input %x");
    EXPECT_EQ(attempt.search.miss().node, 0);
}

TEST(Expression, AlternativesForgetWhatTheyCaptured) {
    Attempt attempt(kSum);
    const Expression first =
        commutative("aten.mul", "a product", bind("wrong"), op("aten.sin", "a sine", {any()}));
    const Expression second = op("aten.mul", "a product", {bind("a"), any()});
    ASSERT_TRUE(attempt.run(op("aten.exp", "an exponential", {anyOf({first, second})})));
    EXPECT_EQ(attempt.search.value("wrong"), kNone);
    EXPECT_EQ(attempt.captured("a"), "y");
}

TEST(Expression, SameIsOneValueNotOneShape) {
    Attempt attempt(kSum);
    const Expression product =
        op("aten.mul", "a product", {bind("a"), op("aten.neg", "a negation", {same("a", "one value")})});
    EXPECT_FALSE(attempt.run(op("aten.exp", "an exponential", {product})));
    EXPECT_EQ(attempt.search.miss().expected, "one value");
}

} // namespace
} // namespace workbench::test
