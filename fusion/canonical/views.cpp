#include "fusion/canonical/draft.h"

#include <algorithm>
#include <array>

/// All ways to give a tensor another shape are aten.reshape with the full shape; one to the same shape is
/// none, and one of another reads the first one's input. reshape, because a view may not exist once copies
/// are gone.

namespace workbench {
namespace {

bool givesShape(std::string_view op) {
    static constexpr std::array<std::string_view, 7> views{
        "aten.view.default",  "aten._unsafe_view.default", "aten.reshape.default", "aten.flatten.using_ints",
        "aten.unflatten.int", "aten.view_copy.default",    "aten.view_as.default"};
    return std::find(views.begin(), views.end(), op) != views.end();
}

bool keepsShape(std::string_view op) {
    return op == "aten.expand" || op == "aten.squeeze" || op == "aten.expand_copy" ||
           op == "aten.squeeze_copy" || op == "aten.broadcast_to";
}

/// reshape(linear(reshape(x))) that only folds the leading dims and unfolds them again: linear takes any.
bool unfoldLinear(Draft& draft, ValueId self) {
    const Node* linear = draft.madeBy(self, "aten.linear");
    const Node* folded = linear ? draft.madeBy(operand(*linear, "input"), "aten.reshape") : nullptr;
    if (!folded)
        return false;
    const ValueId source = operand(*folded, "self");
    SymShape shape = draft.meta(source).shape;
    if (shape.empty() || !(shape.back() == draft.meta(operand(*linear, "input")).shape.back()))
        return false;
    shape.back() = draft.meta(self).shape.back();
    if (shape != draft.current().meta().shape)
        return false;
    std::vector<Argument> arguments = linear->arguments;
    for (Argument& argument : arguments)
        if (argument.name == "input")
            argument.value = ValueRef{source};
    return draft.become(linear->op, std::move(arguments));
}

} // namespace

bool unifyViews(Draft& draft) {
    const DraftNode& node = draft.current();
    ValueId self = draft.input("self");
    if (self == kNone || (!givesShape(node.node.op) && !keepsShape(node.op())))
        return false;
    if (draft.meta(self).shape == node.meta().shape && draft.meta(self).dtype == node.meta().dtype)
        return draft.alias(self);
    if (!givesShape(node.node.op))
        return false;
    if (unfoldLinear(draft, self))
        return true;
    if (const Node* inner = draft.madeBy(self, "aten.reshape")) {
        self = operand(*inner, "self");
        if (draft.meta(self).shape == node.meta().shape)
            return draft.alias(self);
    }
    return draft.become("aten.reshape.default", {{"self", ValueRef{self}}, {"shape", node.meta().shape}});
}

} // namespace workbench
