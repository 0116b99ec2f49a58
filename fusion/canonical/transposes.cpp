#include "core/graph/op_classes.h"
#include "fusion/canonical/draft.h"

/// t(), permute() of two dims and transpose() are aten.transpose.int with dim0 < dim1, counted from the
/// front; dims of unsqueeze, squeeze, stack, mean and softmax are counted from the front too.

namespace workbench {
namespace {

bool transpose(Draft& draft, ValueId self, std::int64_t first, std::int64_t second) {
    if (first == second)
        return draft.alias(self);
    return draft.become("aten.transpose.int", {{"self", ValueRef{self}},
                                               {"dim0", SymInt(std::min(first, second))},
                                               {"dim1", SymInt(std::max(first, second))}});
}

bool permute(Draft& draft, ValueId self, std::vector<std::int64_t> dims) {
    std::vector<std::int64_t> moved;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (wrapDim(dims[i], dims.size()) != static_cast<std::int64_t>(i))
            moved.push_back(static_cast<std::int64_t>(i));
    if (moved.empty())
        return draft.alias(self);
    return moved.size() == 2 && transpose(draft, self, moved[0], moved[1]);
}

/// Counts one dim from the front; `extra` for ops that add a dim.
bool wrap(Draft& draft, std::string_view name, std::size_t rank) {
    for (Argument& argument : draft.current().node.arguments) {
        if (argument.name != name)
            continue;
        const auto dim = integer(&argument.value);
        if (!dim || *dim >= 0 || rank == 0)
            return false;
        argument.value = SymInt(wrapDim(*dim, rank));
        return true;
    }
    return false;
}

} // namespace

bool unifyTransposes(Draft& draft) {
    const DraftNode& node = draft.current();
    const std::string_view op = node.op();
    const ValueId self = draft.input("self");
    if (op == "aten.stack")
        return wrap(draft, "dim", node.meta().shape.size());
    if (self == kNone)
        return false;
    const std::size_t rank = draft.meta(self).shape.size();
    if (op == "aten.unsqueeze")
        return wrap(draft, "dim", rank + 1);
    if (isSoftmax(op) || op == "aten.squeeze")
        return wrap(draft, "dim", rank);
    if (op == "aten.t")
        return rank < 2 ? draft.alias(self) : transpose(draft, self, 0, 1);
    if (op == "aten.transpose") {
        const auto first = integer(argument(node.node, "dim0")),
                   second = integer(argument(node.node, "dim1"));
        return first && second && transpose(draft, self, wrapDim(*first, rank), wrapDim(*second, rank));
    }
    if (op == "aten.permute") {
        const auto dims = integers(argument(node.node, "dims"));
        return dims && dims->size() == rank && permute(draft, self, *dims);
    }
    return false;
}

} // namespace workbench
