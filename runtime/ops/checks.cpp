#include "runtime/ops/checks.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <utility>

namespace workbench::ops {
namespace {

template <typename Enum, size_t N>
Enum parse(const char* op, const char* argument, std::string_view name,
           const std::array<std::pair<std::string_view, Enum>, N>& known) {
    std::string names;
    for (const auto& [knownName, value] : known) {
        if (knownName == name)
            return value;
        names += names.empty() ? "" : ", ";
        names += knownName;
    }
    TORCH_CHECK_VALUE(false, "workbench::", op, ": ", argument, " must be one of ", names, ", got '", name,
                      "'.");
}

/// False when the leading dimensions do not merge into three.
bool mergeLeading(const at::Tensor& tensor, Rows& rows) {
    c10::SmallVector<std::pair<int64_t, int64_t>, 6> merged; // size and stride, innermost first
    for (int64_t dim = tensor.dim() - 2; dim >= 0; --dim) {
        const int64_t size = tensor.size(dim);
        const int64_t stride = tensor.stride(dim);
        if (size == 1)
            continue;
        if (!merged.empty() && stride == merged.back().first * merged.back().second)
            merged.back().first *= size;
        else
            merged.emplace_back(size, stride);
    }
    if (merged.size() > 3)
        return false;
    for (size_t i = 0; i < merged.size(); ++i) {
        rows.sizes[2 - i] = merged[i].first;
        rows.strides[2 - i] = merged[i].second;
    }
    return true;
}

} // namespace

NormCast parseCast(const char* op, std::string_view name) {
    using Pair = std::pair<std::string_view, NormCast>;
    return parse(op, "cast", name,
                 std::array{Pair{"before_weight", NormCast::BeforeWeight},
                            Pair{"after_weight", NormCast::AfterWeight}});
}

Activation parseActivation(const char* op, std::string_view name) {
    using Pair = std::pair<std::string_view, Activation>;
    return parse(op, "activation", name,
                 std::array{Pair{"silu", Activation::Silu}, Pair{"gelu", Activation::Gelu},
                            Pair{"gelu_tanh", Activation::GeluTanh}, Pair{"relu", Activation::Relu},
                            Pair{"sigmoid", Activation::Sigmoid}});
}

RopeStyle parseStyle(const char* op, std::string_view name) {
    using Pair = std::pair<std::string_view, RopeStyle>;
    return parse(op, "style", name,
                 std::array{Pair{"half", RopeStyle::Half}, Pair{"interleaved", RopeStyle::Interleaved}});
}

MaskKind parseMask(const char* op, std::string_view name) {
    using Pair = std::pair<std::string_view, MaskKind>;
    return parse(op, "mask kind", name,
                 std::array{Pair{"causal", MaskKind::Causal}, Pair{"sliding", MaskKind::Sliding},
                            Pair{"chunked", MaskKind::Chunked}, Pair{"full", MaskKind::Full}});
}

RouteOrder parseRouteOrder(std::string_view name) {
    using Pair = std::pair<std::string_view, RouteOrder>;
    return parse("moe_route", "order", name,
                 std::array{Pair{"softmax_first", RouteOrder::SoftmaxFirst},
                            Pair{"top_k_first", RouteOrder::TopKFirst}});
}

void checkFloating(const char* op, const char* argument, const at::Tensor& tensor) {
    const at::ScalarType dtype = tensor.scalar_type();
    TORCH_CHECK_VALUE(
        dtype == at::kFloat || dtype == at::kDouble || dtype == at::kBFloat16 || dtype == at::kHalf,
        "workbench::", op, ": ", argument, " must be a floating-point tensor, got ", dtype, ".");
}

void checkLike(const char* op, const char* argument, const at::Tensor& tensor, const char* firstName,
               const at::Tensor& first) {
    TORCH_CHECK_VALUE(tensor.scalar_type() == first.scalar_type(), "workbench::", op, ": ", argument,
                      " must have the dtype ", first.scalar_type(), " of ", firstName, ", got ",
                      tensor.scalar_type(), ".");
    TORCH_CHECK_VALUE(tensor.device() == first.device(), "workbench::", op, ": ", argument, " must be on ",
                      first.device(), " like ", firstName, ", got ", tensor.device(), ".");
}

void checkWeight(const char* op, const char* argument, const std::optional<at::Tensor>& weight,
                 const at::Tensor& input) {
    if (!weight.has_value())
        return;
    TORCH_CHECK_VALUE(weight->dim() == 1 && weight->size(0) == input.size(-1), "workbench::", op, ": ",
                      argument, " must be [", input.size(-1), "] like the input's last dimension, got ",
                      weight->sizes(), ".");
    checkLike(op, argument, *weight, "the input", input);
    TORCH_CHECK_VALUE(weight->is_contiguous(), "workbench::", op, ": ", argument, " must be contiguous.");
}

void checkOutput(const char* op, const char* argument, const at::Tensor& output, at::IntArrayRef shape,
                 const at::Tensor& input) {
    TORCH_CHECK_VALUE(output.sizes() == shape, "workbench::", op, ": ", argument, " must be ", shape,
                      ", got ", output.sizes(), ".");
    checkLike(op, argument, output, "the input", input);
    TORCH_CHECK_VALUE(output.is_contiguous(), "workbench::", op, ": ", argument, " must be contiguous.");
}

at::Tensor emptyOf(at::IntArrayRef sizes, const at::Tensor& like) {
    if (!like.is_cpu())
        return at::empty(sizes, like.options());
    return at::detail::empty_cpu(sizes, like.scalar_type(), /*pin_memory=*/false, std::nullopt);
}

const Kernels& kernelsFor(const char* op, const at::Tensor& tensor) {
    if (tensor.is_cpu())
        return cpuKernels();
    TORCH_CHECK(tensor.is_cuda() && cudaKernels() != nullptr, "workbench::", op,
                ": this library has no kernels for the device ", tensor.device(),
                "; use a build with WORKBENCH_CUDA or the Python package workbench_ops.");
    return *cudaKernels();
}

RowTensor asRows(const at::Tensor& tensor) {
    RowTensor result{withContiguousRows(tensor), {}};
    if (!mergeLeading(result.tensor, result.rows)) {
        result.tensor = tensor.contiguous();
        mergeLeading(result.tensor, result.rows);
    }
    result.rows.width = tensor.size(-1);
    result.rows.data = result.tensor.const_data_ptr();
    return result;
}

at::Tensor withContiguousRows(const at::Tensor& tensor) {
    return tensor.stride(-1) == 1 || tensor.size(-1) <= 1 ? tensor : tensor.contiguous();
}

const void* dataOrNull(const std::optional<at::Tensor>& tensor) {
    return tensor.has_value() ? tensor->const_data_ptr() : nullptr;
}

} // namespace workbench::ops
