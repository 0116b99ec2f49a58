#include "fusion/canonical/draft.h"

/// x * x, square(x) and pow(x, 2.0) are pow(x, 2): torch computes all of them as x * x.

namespace workbench {

bool unifySquares(Draft& draft) {
    const DraftNode& node = draft.current();
    const ValueId self = draft.input("self");
    if (self == kNone || !isFloatingPoint(node.meta().dtype) || draft.meta(self) != node.meta())
        return false;
    const bool square =
        node.op() == "aten.square" || (node.op() == "aten.mul" && draft.input("other") == self) ||
        (node.node.op == "aten.pow.Tensor_Scalar" && number(argument(node.node, "exponent")) == 2.0);
    return square &&
           draft.become("aten.pow.Tensor_Scalar", {{"self", ValueRef{self}}, {"exponent", SymInt(2)}});
}

} // namespace workbench
