#include "runtime/ops/linear.h"

#include "runtime/ops/checks.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

namespace workbench::ops {
namespace {

void checkInput(const at::Tensor& input, const PackedWeight& weight, const std::optional<at::Tensor>& bias) {
    TORCH_CHECK_VALUE(input.scalar_type() == weight.dtype(), "workbench::linear: input must have the dtype ",
                      weight.dtype(), " of the weight, got ", input.scalar_type(), ".");
    TORCH_CHECK_VALUE(input.is_cpu(), "workbench::linear: packed weights are for the CPU, got an input on ",
                      input.device(), ".");
    TORCH_CHECK_VALUE(input.dim() >= 1 && input.size(-1) == weight.columns(),
                      "workbench::linear: input must be [..., ", weight.columns(), "], got ", input.sizes(),
                      ".");
    if (!bias.has_value())
        return;
    TORCH_CHECK_VALUE(bias->dim() == 1 && bias->size(0) == weight.rows(), "workbench::linear: bias must be [",
                      weight.rows(), "], got ", bias->sizes(), ".");
    checkLike("linear", "bias", *bias, "input", input);
}

using Shape = c10::SmallVector<int64_t, 6>;

Shape outputShape(const at::Tensor& input, const PackedWeight& weight) {
    Shape shape(input.sizes().begin(), input.sizes().end());
    shape.back() = weight.rows();
    return shape;
}

/// `input` and `bias` contiguous.
LinearCall callOf(const at::Tensor& input, const PackedWeight& weight, const std::optional<at::Tensor>& bias,
                  at::Tensor& output) {
    LinearCall call{.dtype = weight.dtype()};
    call.input = input.const_data_ptr();
    call.rows = output.numel() / weight.rows();
    call.columns = weight.columns();
    call.blocks = weight.panelBlocks().data();
    call.blockCount = static_cast<int64_t>(weight.panelBlocks().size());
    call.outputs = weight.rows();
    call.bias = dataOrNull(bias);
    call.output = output.mutable_data_ptr();
    return call;
}

void run(const Kernels& kernels, const at::Tensor& input, const PackedWeight& weight,
         const std::optional<at::Tensor>& bias, at::Tensor& output) {
    if (output.numel() == 0)
        return;
    const at::Tensor rows = input.contiguous();
    const std::optional<at::Tensor> biasRow =
        bias.has_value() ? std::optional(bias->contiguous()) : std::nullopt;
    kernels.linear(callOf(rows, weight, biasRow, output));
}

Shape rowsShape(const PackedWeight& weight, const at::Tensor& indices) {
    Shape shape(indices.sizes().begin(), indices.sizes().end());
    shape.push_back(weight.columns());
    return shape;
}

void copyRows(const PackedWeight& weight, const at::Tensor& indices, at::Tensor& output) {
    TORCH_CHECK_VALUE(indices.is_cpu() &&
                          (indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt),
                      "workbench::embedding: indices must be int64 or int32 on the CPU, got ",
                      indices.scalar_type(), " on ", indices.device(), ".");
    const at::Tensor flat = indices.to(at::kLong).contiguous();
    auto* to = static_cast<std::byte*>(output.mutable_data_ptr());
    const auto rowBytes = static_cast<size_t>(weight.columns()) * c10::elementSize(weight.dtype());
    const int64_t* rows = flat.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < flat.numel(); ++i) {
        TORCH_CHECK_INDEX(rows[i] >= 0 && rows[i] < weight.rows(), "workbench::embedding: index ", rows[i],
                          " is not one of the ", weight.rows(), " rows.");
        weight.copyRow(rows[i], to + static_cast<size_t>(i) * rowBytes);
    }
}

} // namespace

at::Tensor linear(const at::Tensor& input, const PackedWeight& weight,
                  const std::optional<at::Tensor>& bias) {
    return linearWith(cpuKernels(), input, weight, bias);
}

at::Tensor linearWith(const Kernels& kernels, const at::Tensor& input, const PackedWeight& weight,
                      const std::optional<at::Tensor>& bias) {
    checkInput(input, weight, bias);
    at::Tensor output = emptyOf(outputShape(input, weight), input);
    run(kernels, input, weight, bias, output);
    return output;
}

void linearInto(at::Tensor& output, const at::Tensor& input, const PackedWeight& weight,
                const std::optional<at::Tensor>& bias) {
    checkInput(input, weight, bias);
    checkOutput("linear", "output", output, outputShape(input, weight), input);
    run(cpuKernels(), input, weight, bias, output);
}

std::optional<LinearCall> bindLinear(at::Tensor& output, const at::Tensor& input, const PackedWeight& weight,
                                     const std::optional<at::Tensor>& bias) {
    checkInput(input, weight, bias);
    checkOutput("linear", "output", output, outputShape(input, weight), input);
    if (output.numel() == 0 || !input.is_contiguous() || (bias.has_value() && !bias->is_contiguous()))
        return std::nullopt;
    return callOf(input, weight, bias, output);
}

at::Tensor embedding(const PackedWeight& weight, const at::Tensor& indices) {
    at::Tensor output = at::empty(rowsShape(weight, indices), weight.dtype());
    copyRows(weight, indices, output);
    return output;
}

void embeddingInto(at::Tensor& output, const PackedWeight& weight, const at::Tensor& indices) {
    TORCH_CHECK_VALUE(output.sizes() == at::IntArrayRef(rowsShape(weight, indices)) &&
                          output.scalar_type() == weight.dtype() && output.is_contiguous(),
                      "workbench::embedding: output must be contiguous ", rowsShape(weight, indices), " of ",
                      weight.dtype(), ", got ", output.sizes(), " of ", output.scalar_type(), ".");
    copyRows(weight, indices, output);
}

} // namespace workbench::ops
