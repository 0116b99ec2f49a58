#include "fusion/canonical/draft.h"
#include "fusion/match/dimension.h"

#include <algorithm>

/// cat() leaves out empty pieces and counts its dim from the front; a cat of one piece is that piece.

namespace workbench {

bool unifyConcatenations(Draft& draft) {
    const DraftNode& node = draft.current();
    const std::string_view op = node.op();
    if (op != "aten.cat" && op != "aten.concat" && op != "aten.concatenate")
        return false;
    const ArgumentValue* given = argument(node.node, "tensors");
    const auto* pieces = given ? std::get_if<std::vector<ValueRef>>(given) : nullptr;
    if (!pieces || pieces->empty())
        return false;
    const std::size_t rank = node.meta().shape.size();
    const auto dim = dimension(argument(node.node, "dim"), rank);
    if (!dim)
        return false;
    std::vector<ValueRef> kept;
    for (const ValueRef& piece : *pieces) {
        const TensorMeta& meta = draft.meta(piece.id);
        const bool empty =
            meta.dtype == node.meta().dtype && meta.shape.size() == rank && meta.shape[*dim] == SymInt(0);
        if (!empty)
            kept.push_back(piece);
    }
    if (kept.size() == 1 && draft.meta(kept.front().id) == node.meta())
        return draft.alias(kept.front().id);
    if (kept.empty())
        kept = *pieces;
    return draft.become("aten.cat.default",
                        {{"tensors", std::move(kept)}, {"dim", SymInt(static_cast<std::int64_t>(*dim))}});
}

} // namespace workbench
