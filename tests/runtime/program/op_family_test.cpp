#include "runtime/program/op_family.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

TEST(OpFamily, IsThatOfTheOperatorWhateverItsOverload) {
    EXPECT_EQ(opFamily("aten.linear.default"), "products");
    EXPECT_EQ(opFamily("aten.transpose.int"), "views");
    EXPECT_EQ(opFamily("aten.silu"), "activations");
    EXPECT_EQ(opFamily("workbench.attention"), "attention");
    EXPECT_EQ(opFamily("workbench.qk_norm_rope"), "rotary");
    EXPECT_EQ(opFamily("workbench.add_rms_norm"), "norms");
    EXPECT_EQ(opFamily("workbench.moe_experts"), "experts");
}

TEST(OpFamily, OfAnOperatorThatNobodyListedIsElementwise) {
    EXPECT_EQ(opFamily("aten.mul.Tensor"), "elementwise");
    EXPECT_EQ(opFamily("custom.thing"), "elementwise");
    EXPECT_EQ(opFamily("x"), "elementwise");
}

} // namespace
} // namespace workbench
