#include "fusion/canonical/draft.h"

/// matmul, mm and addmm with a transposed weight are aten.linear, whose weight is [out, in]. A weight that is
/// stored [in, out] (Conv1D) stays with addmm: aten.linear would have to transpose it.

namespace workbench {
namespace {

/// The [out, in] matrix when the value is its transpose.
ValueId transposed(Draft& draft, ValueId value) {
    const Node* transpose = draft.madeBy(value, "aten.transpose");
    const ValueId weight = transpose ? operand(*transpose, "self") : kNone;
    return weight != kNone && draft.meta(weight).shape.size() == 2 ? weight : kNone;
}

bool linear(Draft& draft, ValueId input, ValueId weight, ValueId bias) {
    if (input == kNone || weight == kNone || draft.meta(input).dtype != draft.meta(weight).dtype)
        return false;
    std::vector<Argument> arguments{{"input", ValueRef{input}}, {"weight", ValueRef{weight}}};
    if (bias != kNone)
        arguments.push_back({"bias", ValueRef{bias}});
    return draft.become("aten.linear.default", std::move(arguments));
}

} // namespace

bool unifyLinears(Draft& draft) {
    const DraftNode& node = draft.current();
    if (node.op() == "aten.mm")
        return linear(draft, draft.input("self"), transposed(draft, draft.input("mat2")), kNone);
    if (node.op() == "aten.matmul")
        return draft.meta(draft.input("self")).shape.size() >= 2 &&
               linear(draft, draft.input("self"), transposed(draft, draft.input("other")), kNone);
    if (node.op() == "aten.addmm") {
        const ValueId bias = draft.input("self");
        const auto plain = [&](std::string_view name) {
            return number(argument(node.node, name)).value_or(1.0) == 1.0;
        };
        return plain("alpha") && plain("beta") && draft.meta(bias).shape.size() == 1 &&
               linear(draft, draft.input("mat1"), transposed(draft, draft.input("mat2")), bias);
    }
    if (node.op() == "aten.linear" && argument(node.node, "bias") && draft.input("bias") == kNone)
        return linear(draft, draft.input("input"), draft.input("weight"), kNone);
    return false;
}

} // namespace workbench
