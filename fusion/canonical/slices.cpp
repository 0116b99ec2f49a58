#include "fusion/canonical/draft.h"
#include "fusion/match/dimension.h"

#include <limits>

/// Every slice states dim, start, end and step; one that takes everything is none.

namespace workbench {
namespace {

/// Start or end within a dim of known size: counted from the front, at most the size.
std::int64_t clamp(std::int64_t at, std::int64_t size) {
    return std::min(std::max<std::int64_t>(at < 0 ? at + size : at, 0), size);
}

} // namespace

bool unifySlices(Draft& draft) {
    const DraftNode& node = draft.current();
    const ValueId self = draft.input("self");
    if (node.node.op != "aten.slice.Tensor" || self == kNone)
        return false;
    const SymShape& shape = draft.meta(self).shape;
    const auto dim = dimension(argument(node.node, "dim"), shape.size());
    if (!dim)
        return false;
    const SymInt& size = shape[*dim];
    const auto bound = [&](std::string_view name, std::int64_t otherwise) {
        const ArgumentValue* given = argument(node.node, name);
        const auto* whole = given ? std::get_if<SymInt>(given) : nullptr;
        return whole ? *whole : SymInt(otherwise);
    };
    SymInt start = bound("start", 0);
    SymInt end = bound("end", std::numeric_limits<std::int64_t>::max());
    const SymInt step = bound("step", 1);
    if (step == SymInt(1) && shape == node.meta().shape)
        return draft.alias(self);
    if (size.isConstant() && start.isConstant() && end.isConstant()) {
        start = SymInt(clamp(start.constant(), size.constant()));
        end = SymInt(clamp(end.constant(), size.constant()));
    }
    return draft.become("aten.slice.Tensor", {{"self", ValueRef{self}},
                                              {"dim", SymInt(static_cast<std::int64_t>(*dim))},
                                              {"start", start},
                                              {"end", end},
                                              {"step", step}});
}

} // namespace workbench
