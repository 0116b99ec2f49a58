#include "core/graph/op_kinds.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

TEST(OpKinds, OpsInPlaceAndWithGivenOutputsMutate) {
    for (const char* op :
         {"aten.add_.Tensor", "aten.relu_.default", "aten.index_put_.default", "aten.add.out",
          "aten.pow.Scalar_out", "aten.__iand__.Tensor", "aten.__ior__.Scalar", "aten.__ixor__.Tensor",
          "aten.__ilshift__.Tensor", "aten.__irshift__.Scalar"})
        EXPECT_TRUE(isMutation(op)) << op;
}

TEST(OpKinds, OpsThatMakeATensorDoNotMutate) {
    for (const char* op : {"aten.add.Tensor", "aten.index_put.default", "aten._to_copy.default",
                           "aten.__and__.Tensor", "aten.__or__.Scalar", "aten.__xor__.Tensor",
                           "aten.__lshift__.Tensor", "aten.__rshift__.Scalar", "workbench.rope", "add_"})
        EXPECT_FALSE(isMutation(op)) << op;
}

TEST(OpKinds, ChecksOfATraceAreAssertions) {
    for (const char* op :
         {"aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten._assert_async.msg",
          "aten.sym_constrain_range_for_size.default", "aten._functional_assert_async.msg",
          "aten._functional_sym_constrain_range.default"})
        EXPECT_TRUE(isAssertion(op)) << op;
    EXPECT_FALSE(isAssertion("aten.add.Tensor"));
}

} // namespace
} // namespace workbench
