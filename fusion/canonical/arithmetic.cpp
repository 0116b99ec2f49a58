#include "fusion/canonical/draft.h"

#include <algorithm>

/// x * 1 and x / 1 are x. The operands of a sum or product stand in the order in which they are made, a
/// factor alpha of one is not written. Products and sums of two tensors are commutative to the bit.

namespace workbench {
namespace {

bool dropAlpha(Draft& draft) {
    std::vector<Argument>& arguments = draft.current().node.arguments;
    const auto alpha =
        std::find_if(arguments.begin(), arguments.end(), [](const Argument& a) { return a.name == "alpha"; });
    if (alpha == arguments.end() || number(&alpha->value) != 1.0)
        return false;
    arguments.erase(alpha);
    return true;
}

} // namespace

bool unifyArithmetic(Draft& draft) {
    const DraftNode& node = draft.current();
    const std::string_view op = node.op();
    const bool product = op == "aten.mul", sum = op == "aten.add", quotient = op == "aten.div";
    const ValueId self = draft.input("self");
    if ((!product && !sum && !quotient && op != "aten.sub") || self == kNone)
        return false;
    if (!product && !quotient && dropAlpha(draft))
        return true;
    const bool rounded = !isAbsent(argument(node.node, "rounding_mode"));
    if ((product || (quotient && !rounded)) && number(argument(node.node, "other")) == 1.0 &&
        draft.meta(self) == node.meta())
        return draft.alias(self);
    const ValueId other = draft.input("other");
    if ((product || sum) && other != kNone && self > other && !argument(node.node, "alpha"))
        return draft.become(node.node.op, {{"self", ValueRef{other}}, {"other", ValueRef{self}}});
    if ((product || sum) && other == kNone && node.node.op.ends_with(".Scalar"))
        return draft.become(std::string(op) + ".Tensor", node.node.arguments);
    return false;
}

} // namespace workbench
