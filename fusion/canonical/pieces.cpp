#include "fusion/canonical/draft.h"
#include "fusion/match/dimension.h"

#include <algorithm>
#include <array>

/// chunk(), split() and narrow() are slices, one per piece.

namespace workbench {

bool unifyPieces(Draft& draft) {
    static constexpr std::array<std::string_view, 6> splits{
        "aten.split",        "aten.split_with_sizes", "aten.chunk",
        "aten.unsafe_split", "aten.unsafe_chunk",     "aten.unsafe_split_with_sizes"};
    DraftNode& node = draft.current();
    const ValueId self = draft.input("self");
    if (self == kNone)
        return false;
    const auto dim = dimension(argument(node.node, "dim"), draft.meta(self).shape.size());
    const auto lacksIt = [&](const auto& output) { return output.second.shape.size() <= *dim; };
    if (!dim || std::any_of(node.outputs.begin(), node.outputs.end(), lacksIt))
        return false;
    const SymInt front(static_cast<std::int64_t>(*dim));
    if (node.op() == "aten.narrow") {
        const auto start = integer(argument(node.node, "start"));
        const SymInt length = node.meta().shape[*dim];
        if (!start || *start < 0)
            return false;
        return draft.become("aten.slice.Tensor", {{"self", ValueRef{self}},
                                                  {"dim", front},
                                                  {"start", SymInt(*start)},
                                                  {"end", SymInt(*start) + length},
                                                  {"step", SymInt(1)}});
    }
    if (std::find(splits.begin(), splits.end(), node.op()) == splits.end())
        return false;
    SymInt start(0);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto& [name, meta] = node.outputs[i];
        const SymInt end = start + meta.shape[*dim];
        node.aliases[i] = draft.insert(
            "aten.slice.Tensor",
            {{"self", ValueRef{self}}, {"dim", front}, {"start", start}, {"end", end}, {"step", SymInt(1)}},
            name, meta);
        start = end;
    }
    return true;
}

} // namespace workbench
