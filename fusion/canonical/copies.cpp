#include "fusion/canonical/draft.h"

#include <algorithm>
#include <array>

/// Copies and aliases mean nothing in a functional graph. Dropout outside of training is a copy.

namespace workbench {

bool dropCopies(Draft& draft) {
    static constexpr std::array<std::string_view, 8> copies{
        "aten.clone",      "aten.alias",           "aten.detach",     "aten.contiguous",
        "aten.lift_fresh", "aten.lift_fresh_copy", "aten.alias_copy", "aten.detach_copy"};
    const DraftNode& node = draft.current();
    if (std::find(copies.begin(), copies.end(), node.op()) != copies.end() && draft.input("self") != kNone)
        return draft.alias(draft.input("self"));
    if (node.op() == "aten.dropout" && draft.input("input") != kNone) {
        const ArgumentValue* train = argument(node.node, "train");
        const auto* training = train ? std::get_if<bool>(train) : nullptr;
        if ((training && !*training) || number(argument(node.node, "p")) == 0.0)
            return draft.alias(draft.input("input"));
    }
    return false;
}

} // namespace workbench
