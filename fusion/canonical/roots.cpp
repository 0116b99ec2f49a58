#include "fusion/canonical/draft.h"

/// pow(x, -0.5), 1 / sqrt(x) and y / sqrt(x) use rsqrt. The quotients differ from it by one rounding, so they
/// are only unified where a rounding is small: in f32 and f64.

namespace workbench {
namespace {

bool isWide(ScalarType dtype) {
    return dtype == ScalarType::f32 || dtype == ScalarType::f64;
}

bool unifyPowers(Draft& draft, ValueId self) {
    const auto exponent = number(argument(draft.current().node, "exponent"));
    if (exponent == -0.5)
        return draft.become("aten.rsqrt.default", {{"self", ValueRef{self}}});
    return exponent == 0.5 && draft.become("aten.sqrt.default", {{"self", ValueRef{self}}});
}

} // namespace

bool unifyRoots(Draft& draft) {
    const DraftNode& node = draft.current();
    const ValueId self = draft.input("self");
    if (self == kNone || !isFloatingPoint(node.meta().dtype))
        return false;
    if (node.node.op == "aten.pow.Tensor_Scalar")
        return unifyPowers(draft, self);
    if (!isWide(node.meta().dtype))
        return false;
    if (node.op() == "aten.reciprocal") {
        const Node* root = draft.madeBy(self, "aten.sqrt");
        return root && draft.become("aten.rsqrt.default", {{"self", ValueRef{operand(*root, "self")}}});
    }
    const ValueId divisor = draft.input("other");
    const Node* root = node.node.op == "aten.div.Tensor" ? draft.madeBy(divisor, "aten.sqrt") : nullptr;
    if (!root || draft.meta(self).dtype != node.meta().dtype)
        return false;
    const ValueId inverse =
        draft.insert("aten.rsqrt.default", {{"self", ValueRef{operand(*root, "self")}}},
                     draft.uniqueName(node.outputs.front().first + "_rsqrt"), draft.meta(divisor));
    return draft.become("aten.mul.Tensor", {{"self", ValueRef{self}}, {"other", ValueRef{inverse}}});
}

} // namespace workbench
