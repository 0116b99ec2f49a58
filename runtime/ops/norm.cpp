#include "runtime/ops/norm.h"

#include "runtime/ops/checks.h"

#include <c10/util/Exception.h>

namespace workbench::ops {
namespace {

void checkInput(const char* op, const at::Tensor& input, const std::optional<at::Tensor>& weight) {
    checkFloating(op, "input", input);
    TORCH_CHECK_VALUE(input.dim() >= 1, "workbench::", op, ": input must have at least one dimension.");
    checkWeight(op, "weight", weight, input);
}

void checkResidual(const at::Tensor& input, const at::Tensor& residual) {
    TORCH_CHECK_VALUE(residual.sizes() == input.sizes(), "workbench::add_rms_norm: residual must be ",
                      input.sizes(), " like input, got ", residual.sizes(), ".");
    checkLike("add_rms_norm", "residual", residual, "input", input);
}

/// `residual` and `sum` null for the norm alone.
RmsNormCall callOf(const Rows& input, const RowTensor* residual, at::ScalarType dtype,
                   const std::optional<at::Tensor>& weight, const NormSpec& spec, at::Tensor& normed,
                   at::Tensor* sum) {
    RmsNormCall call{};
    call.dtype = dtype;
    call.input = input;
    if (residual)
        call.residual = residual->rows;
    call.weight = dataOrNull(weight);
    call.normed = normed.mutable_data_ptr();
    if (sum)
        call.sum = sum->mutable_data_ptr();
    call.spec = spec;
    return call;
}

void runNorm(const at::Tensor& input, const std::optional<at::Tensor>& weight, const NormSpec& spec,
             at::Tensor& output) {
    if (input.numel() == 0)
        return;
    const RowTensor rows = asRows(input);
    kernelsFor("rms_norm", input)
        .rmsNorm(callOf(rows.rows, nullptr, input.scalar_type(), weight, spec, output, nullptr));
}

void runAddNorm(const at::Tensor& input, const at::Tensor& residual, const std::optional<at::Tensor>& weight,
                const NormSpec& spec, at::Tensor& normed, at::Tensor& sum) {
    if (input.numel() == 0)
        return;
    const RowTensor rows = asRows(input);
    const RowTensor residualRows = asRows(residual);
    kernelsFor("add_rms_norm", input)
        .rmsNorm(callOf(rows.rows, &residualRows, input.scalar_type(), weight, spec, normed, &sum));
}

} // namespace

at::Tensor rmsNorm(const at::Tensor& input, const std::optional<at::Tensor>& weight, const NormSpec& spec) {
    checkInput("rms_norm", input, weight);
    at::Tensor output = emptyOf(input.sizes(), input);
    runNorm(input, weight, spec, output);
    return output;
}

void rmsNormInto(at::Tensor& output, const at::Tensor& input, const std::optional<at::Tensor>& weight,
                 const NormSpec& spec) {
    checkInput("rms_norm", input, weight);
    checkOutput("rms_norm", "output", output, input.sizes(), input);
    runNorm(input, weight, spec, output);
}

std::optional<RmsNormCall> bindRmsNorm(at::Tensor& output, const at::Tensor& input,
                                       const std::optional<at::Tensor>& weight, const NormSpec& spec) {
    checkInput("rms_norm", input, weight);
    checkOutput("rms_norm", "output", output, input.sizes(), input);
    const RowTensor rows = asRows(input);
    if (input.numel() == 0 || !rows.tensor.is_same(input))
        return std::nullopt;
    return callOf(rows.rows, nullptr, input.scalar_type(), weight, spec, output, nullptr);
}

std::tuple<at::Tensor, at::Tensor> addRmsNorm(const at::Tensor& input, const at::Tensor& residual,
                                              const std::optional<at::Tensor>& weight, const NormSpec& spec) {
    checkInput("add_rms_norm", input, weight);
    checkResidual(input, residual);
    at::Tensor normed = emptyOf(input.sizes(), input);
    at::Tensor sum = emptyOf(input.sizes(), input);
    runAddNorm(input, residual, weight, spec, normed, sum);
    return {normed, sum};
}

void addRmsNormInto(at::Tensor& normed, at::Tensor& sum, const at::Tensor& input, const at::Tensor& residual,
                    const std::optional<at::Tensor>& weight, const NormSpec& spec) {
    checkInput("add_rms_norm", input, weight);
    checkResidual(input, residual);
    checkOutput("add_rms_norm", "normed", normed, input.sizes(), input);
    checkOutput("add_rms_norm", "sum", sum, input.sizes(), input);
    runAddNorm(input, residual, weight, spec, normed, sum);
}

std::optional<RmsNormCall> bindAddRmsNorm(at::Tensor& normed, at::Tensor& sum, const at::Tensor& input,
                                          const at::Tensor& residual, const std::optional<at::Tensor>& weight,
                                          const NormSpec& spec) {
    checkInput("add_rms_norm", input, weight);
    checkResidual(input, residual);
    checkOutput("add_rms_norm", "normed", normed, input.sizes(), input);
    checkOutput("add_rms_norm", "sum", sum, input.sizes(), input);
    const RowTensor rows = asRows(input);
    const RowTensor residualRows = asRows(residual);
    if (input.numel() == 0 || !rows.tensor.is_same(input) || !residualRows.tensor.is_same(residual))
        return std::nullopt;
    return callOf(rows.rows, &residualRows, input.scalar_type(), weight, spec, normed, &sum);
}

} // namespace workbench::ops
