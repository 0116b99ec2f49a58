#include "runtime/program/view_call.h"

#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/transpose.h>

#include <algorithm>
#include <map>
#include <string>

namespace workbench {
namespace {

using Values = std::vector<at::Tensor>;

at::Tensor& valueOf(Values& values, ValueId id) {
    return values[static_cast<std::size_t>(id)];
}

/// The same memory seen in another way; strides and offset in elements. As at::native makes views, less what
/// autograd needs.
at::Tensor viewOf(const at::Tensor& tensor, at::IntArrayRef sizes, at::IntArrayRef strides,
                  std::int64_t offset) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
        c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(), tensor.dtype());
    c10::TensorImpl* impl = view.unsafeGetTensorImpl();
    impl->set_storage_offset(offset);
    impl->set_sizes_and_strides(sizes, strides);
    return view;
}

const BoundNode::Slot* slotOf(const BoundNode& node, std::size_t argument) {
    for (const BoundNode::Slot& slot : node.slots)
        if (slot.argument == argument)
            return &slot;
    return nullptr;
}

/// The value behind the first argument of every view.
ValueId selfOf(const BoundNode& node) {
    const BoundNode::Slot* slot = slotOf(node, 0);
    return slot && slot->kind == BoundNode::Slot::Kind::tensor ? slot->values[0] : kNone;
}

/// A list of sizes, constant or from the symbols of a run.
class Sizes {
public:
    Sizes(const BoundNode& node, std::size_t argument) {
        if (const BoundNode::Slot* slot = slotOf(node, argument))
            m_symbols = slot->integers;
        else
            for (const std::int64_t size : node.arguments[argument].toIntVector())
                m_constant.push_back(size);
    }
    at::DimVector of(const SymTable& symbols) const {
        if (m_symbols.empty())
            return m_constant;
        at::DimVector sizes;
        for (const std::int32_t index : m_symbols)
            sizes.push_back(symbols.value(index));
        return sizes;
    }

private:
    at::DimVector m_constant;
    std::vector<std::int32_t> m_symbols;
};

/// Other sizes for the same elements; `otherwise` where the strides allow no view of them.
DirectCall::Function resized(const BoundNode& node,
                             at::Tensor (*otherwise)(const at::Tensor& tensor, at::IntArrayRef sizes)) {
    return [self = selfOf(node), output = node.outputs[0], wanted = Sizes(node, 1),
            otherwise](Values& values, const SymTable& symbols, const RunOptions&) {
        const at::Tensor& tensor = valueOf(values, self);
        const at::DimVector sizes = at::infer_size_dv(wanted.of(symbols), tensor.numel());
        const auto strides = at::detail::computeStride(tensor.sizes(), tensor.strides(), sizes);
        valueOf(values, output) =
            strides ? viewOf(tensor, sizes, *strides, tensor.storage_offset()) : otherwise(tensor, sizes);
    };
}

DirectCall::Function view(const BoundNode& node) {
    return resized(node, [](const at::Tensor& tensor, at::IntArrayRef sizes) {
        return tensor.view(sizes); // says what is wrong
    });
}

/// A view where the strides allow one, else a copy.
DirectCall::Function reshape(const BoundNode& node) {
    return resized(node,
                   [](const at::Tensor& tensor, at::IntArrayRef sizes) { return tensor.reshape(sizes); });
}

DirectCall::Function transpose(const BoundNode& node) {
    if (slotOf(node, 1) || slotOf(node, 2))
        return {};
    return [self = selfOf(node), output = node.outputs[0], first = node.arguments[1].toInt(),
            second = node.arguments[2].toInt()](Values& values, const SymTable&, const RunOptions&) {
        const at::Tensor& tensor = valueOf(values, self);
        if (tensor.dim() == 0) {
            valueOf(values, output) = at::transpose(tensor, first, second); // checks the dimensions
            return;
        }
        at::DimVector sizes(tensor.sizes());
        at::DimVector strides(tensor.strides());
        const auto a = static_cast<std::size_t>(at::maybe_wrap_dim(first, tensor.dim()));
        const auto b = static_cast<std::size_t>(at::maybe_wrap_dim(second, tensor.dim()));
        std::swap(sizes[a], sizes[b]);
        std::swap(strides[a], strides[b]);
        valueOf(values, output) = viewOf(tensor, sizes, strides, tensor.storage_offset());
    };
}

DirectCall::Function splitWithSizes(const BoundNode& node) {
    if (slotOf(node, 1) || slotOf(node, 2))
        return {};
    std::vector<std::int64_t> sizesOfParts = node.arguments[1].toIntVector();
    if (std::ranges::any_of(sizesOfParts, [](std::int64_t size) { return size < 0; }))
        return {}; // the dispatcher says what is wrong
    return [self = selfOf(node), outputs = node.outputs, parts = std::move(sizesOfParts),
            along = node.arguments[2].toInt()](Values& values, const SymTable&, const RunOptions&) {
        const at::Tensor tensor = valueOf(values, self);
        TORCH_CHECK_VALUE(tensor.dim() > 0, "a number without dimensions cannot be split.");
        const std::int64_t dim = at::maybe_wrap_dim(along, tensor.dim());
        at::DimVector sizes(tensor.sizes());
        std::int64_t begin = 0;
        for (std::size_t i = 0; i < parts.size() && i < outputs.size(); ++i) {
            sizes[static_cast<std::size_t>(dim)] = parts[i];
            valueOf(values, outputs[i]) =
                viewOf(tensor, sizes, tensor.strides(), tensor.storage_offset() + begin * tensor.stride(dim));
            begin += parts[i];
        }
        TORCH_CHECK_VALUE(begin == tensor.size(dim) && parts.size() == outputs.size(), "sizes of ", begin,
                          " in all do not split a dimension of ", tensor.size(dim), ".");
    };
}

DirectCall::Function unsqueeze(const BoundNode& node) {
    if (slotOf(node, 1))
        return {};
    return [self = selfOf(node), output = node.outputs[0],
            before = node.arguments[1].toInt()](Values& values, const SymTable&, const RunOptions&) {
        const at::Tensor& tensor = valueOf(values, self);
        const std::int64_t dim = at::maybe_wrap_dim(before, tensor.dim() + 1);
        at::DimVector sizes(tensor.sizes());
        at::DimVector strides(tensor.strides());
        const std::int64_t stride = dim < tensor.dim() ? tensor.size(dim) * tensor.stride(dim) : 1;
        sizes.insert(sizes.begin() + dim, 1);
        strides.insert(strides.begin() + dim, stride);
        valueOf(values, output) = viewOf(tensor, sizes, strides, tensor.storage_offset());
    };
}

} // namespace

DirectCall viewCall(const BoundNode& node) {
    using Make = DirectCall::Function (*)(const BoundNode&);
    static const std::map<std::pair<std::string, std::string>, Make> kViews{
        {{"aten::view", ""}, view},
        {{"aten::reshape", ""}, reshape},
        {{"aten::transpose", "int"}, transpose},
        {{"aten::split_with_sizes", ""}, splitWithSizes},
        {{"aten::unsqueeze", ""}, unsqueeze},
    };
    const auto found = kViews.find({node.op.operator_name().name, node.op.operator_name().overload_name});
    if (found == kViews.end() || selfOf(node) == kNone)
        return {};
    return {.call = found->second(node), .memory = DirectCall::Memory::shared};
}

} // namespace workbench
