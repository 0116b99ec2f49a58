#include "fusion/canonical/draft.h"

/// to(), type_as() and _to_copy are one cast that names only its dtype; a cast to the same dtype is none.
/// Layout, device and memory format are dropped: a traced graph has one device, and values have no strides
/// here.

namespace workbench {

bool unifyCasts(Draft& draft) {
    const std::string_view op = draft.current().op();
    if (op != "aten._to_copy" && op != "aten.to" && op != "aten.type_as")
        return false;
    const ValueId self = draft.input("self");
    if (self == kNone)
        return false;
    const ScalarType dtype = draft.current().meta().dtype;
    if (draft.meta(self).dtype == dtype)
        return draft.alias(self);
    return draft.become("aten._to_copy.default", {{"self", ValueRef{self}}, {"dtype", dtype}});
}

} // namespace workbench
