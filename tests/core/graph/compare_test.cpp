#include "core/graph/compare.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

constexpr const char* kText =
    "input %x: f32[2, s0]\nparameter %w: f32[2] \"w\"\n"
    "%y: f32[2, s0] = aten.add.Tensor(self=%x, other=%x, alpha=1) @\"m\" from \"m.py\":3 forward\n"
    "%z: f32[4, s0] = aten.cat.default(tensors=[%x, %y], dim=0)\noutput %z\n";

std::optional<std::string> differenceAfter(std::string_view from, std::string_view to,
                                           const CompareOptions& options = {}) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    return firstDifference(parseGraph(kText).value(), parseGraph(text).value(), options);
}

TEST(Compare, ValueNamesDoNotCount) {
    const Graph other =
        parseGraph(
            "parameter %p: f32[2] \"w\"\ninput %i: f32[2, s0] \"x\"\n"
            "%a: f32[2, s0] = aten.add.Tensor(self=%i, other=%i, alpha=1) @\"m\" from \"m.py\":3 forward\n"
            "%b: f32[4, s0] = aten.cat.default(tensors=[%i, %a], dim=0)\noutput %b\n")
            .value();
    EXPECT_EQ(firstDifference(parseGraph(kText).value(), other), std::nullopt);
    EXPECT_TRUE(structurallyEqual(parseGraph(kText).value(), other));
}

TEST(Compare, EveryOtherThingCounts) {
    EXPECT_EQ(differenceAfter("aten.add.Tensor", "aten.sub.Tensor"),
              "node 0 (aten.add.Tensor 'y'): the operator aten.sub.Tensor in the second graph");
    EXPECT_EQ(differenceAfter("alpha=1", "alpha=2"), "node 0 (aten.add.Tensor 'y'): argument 'alpha'");
    EXPECT_EQ(differenceAfter("alpha=1", "alpha=1.0"), "node 0 (aten.add.Tensor 'y'): argument 'alpha'");
    EXPECT_EQ(differenceAfter("[%x, %y]", "[%y, %x]"), "node 1 (aten.cat.default 'z'): argument 'tensors'");
    EXPECT_EQ(differenceAfter("%z: f32[4, s0]", "%z: f32[4, 7]"),
              "node 1 (aten.cat.default 'z'): a result is f32[4, s0] and f32[4, 7]");
    EXPECT_EQ(differenceAfter("@\"m\"", "@\"n\""), "node 0 (aten.add.Tensor 'y'): the module 'm' and 'n'");
    EXPECT_EQ(differenceAfter(":3 forward", ":4 forward"), "node 0 (aten.add.Tensor 'y'): the source line");
    EXPECT_EQ(differenceAfter("%w: f32[2]", "%w: f32[3]"), "input 'w': f32[2] and f32[3]");
    EXPECT_EQ(differenceAfter("output %z", "output %y"), "output 0");
    EXPECT_EQ(differenceAfter("\"w\"", "\"v\""), "input 'w' is only in the first graph");
}

TEST(Compare, LocationsCanBeLeftOut) {
    EXPECT_EQ(differenceAfter("@\"m\"", "@\"n\"", {.locations = false}), std::nullopt);
}

} // namespace
} // namespace workbench
