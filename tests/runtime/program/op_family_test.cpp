#include "runtime/ops/kernels.h"
#include "runtime/ops/schemas.h"
#include "runtime/program/op_family.h"

#include <gtest/gtest.h>

#include <string>

namespace workbench {
namespace {

TEST(OpFamily, IsThatOfTheOperatorWhateverItsOverload) {
    EXPECT_EQ(opFamily("aten.linear.default"), "products");
    EXPECT_EQ(opFamily("aten.transpose.int"), "views");
    EXPECT_EQ(opFamily("aten.silu"), "activations");
    EXPECT_EQ(opFamily("aten._grouped_mm.default"), "products");
    EXPECT_EQ(opFamily("aten._fused_rms_norm.default"), "norms");
    EXPECT_EQ(opFamily("aten.scaled_dot_product_attention.default"), "attention");
    EXPECT_EQ(opFamily("workbench.attention"), "attention");
    EXPECT_EQ(opFamily("workbench.qk_norm_rope"), "rotary");
    EXPECT_EQ(opFamily("workbench.add_rms_norm"), "norms");
    EXPECT_EQ(opFamily("workbench.moe_experts"), "experts");
}

TEST(OpFamily, EveryFusedOpHasOne) {
    for (const ops::Schema& schema : ops::kSchemas) {
        const std::string name = schema.name;
        if (name == "mask") // seen by tracers alone: no program computes it
            continue;
        EXPECT_NE(opFamily("workbench." + name), "elementwise") << name;
    }
}

TEST(OpFamily, EveryKernelHasThatOfItsOp) {
#define WORKBENCH_EXPECT_FAMILY(NAME, CALL, OP) EXPECT_NE(opFamily(OP), "elementwise") << #NAME;
    WORKBENCH_KERNELS(WORKBENCH_EXPECT_FAMILY)
    WORKBENCH_CPU_KERNELS(WORKBENCH_EXPECT_FAMILY)
#undef WORKBENCH_EXPECT_FAMILY
}

TEST(OpFamily, OfAnOperatorThatNobodyListedIsElementwise) {
    EXPECT_EQ(opFamily("aten.mul.Tensor"), "elementwise");
    EXPECT_EQ(opFamily("custom.thing"), "elementwise");
    EXPECT_EQ(opFamily("x"), "elementwise");
}

} // namespace
} // namespace workbench
