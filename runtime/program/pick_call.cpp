#include "runtime/program/pick_call.h"

#include "runtime/ops/checks.h"

#include <ATen/ops/index.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace workbench {
namespace {

using Values = std::vector<at::Tensor>;

std::size_t place(ValueId id) {
    return static_cast<std::size_t>(id);
}

/// Whether index() with a null and `rows` picks rows of one [1, rows, ...].
bool picksRows(const at::Tensor& from, const at::Tensor& rows) {
    return from.is_cpu() && from.dim() >= 3 && from.size(0) == 1 && from.is_contiguous() && rows.is_cpu() &&
           rows.dim() == 1 && rows.scalar_type() == at::kLong && rows.is_contiguous();
}

void copyRows(const at::Tensor& from, const at::Tensor& rows, at::Tensor& to) {
    const std::int64_t count = from.size(1);
    // Not the stride: of a dimension of size 1, which any tensor may have anywhere, it means nothing.
    const auto rowBytes = count > 0 ? from.nbytes() / static_cast<std::size_t>(count) : 0;
    const auto* source = static_cast<const std::byte*>(from.const_data_ptr());
    auto* target = static_cast<std::byte*>(to.mutable_data_ptr());
    const auto* wanted = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
        TORCH_CHECK_INDEX(wanted[i] >= -count && wanted[i] < count, "row ", wanted[i], " is not one of the ",
                          count, ".");
        const std::int64_t row = wanted[i] < 0 ? wanted[i] + count : wanted[i];
        std::copy_n(source + static_cast<std::size_t>(row) * rowBytes, rowBytes,
                    target + static_cast<std::size_t>(i) * rowBytes);
    }
}

} // namespace

DirectCall pickCall(const BoundNode& node) {
    using Kind = BoundNode::Slot::Kind;
    const auto slot = [&](std::size_t argument, Kind kind) -> const BoundNode::Slot* {
        for (const BoundNode::Slot& it : node.slots)
            if (it.argument == argument && it.kind == kind)
                return &it;
        return nullptr;
    };
    const BoundNode::Slot* self = slot(0, Kind::tensor);
    const BoundNode::Slot* indices = slot(1, Kind::optionalTensorList);
    if (node.packed || !self || !indices || indices->values.size() != 2 || indices->values[0] != kNone ||
        indices->values[1] == kNone)
        return {};
    const auto call = [from = self->values[0], which = indices->values[1],
                       output = node.outputs[0]](Values& values, const SymTable&, const RunOptions&) {
        const at::Tensor& all = values[place(from)];
        const at::Tensor& rows = values[place(which)];
        at::Tensor& picked = values[place(output)];
        if (picksRows(all, rows)) {
            if (!picked.defined()) {
                at::DimVector shape(all.sizes());
                shape[1] = rows.numel();
                picked = ops::emptyOf(shape, all);
            }
            copyRows(all, rows, picked);
        } else if (const at::Tensor made = at::index(all, {std::nullopt, rows}); picked.defined()) {
            picked.copy_(made);
        } else {
            picked = made;
        }
    };
    return {.call = call, .memory = DirectCall::Memory::given};
}

} // namespace workbench
