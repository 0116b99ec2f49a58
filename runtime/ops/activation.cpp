#include "runtime/ops/activation.h"

#include "runtime/ops/checks.h"

#include <c10/util/Exception.h>

namespace workbench::ops {
namespace {

void checkInput(const at::Tensor& gateUp) {
    checkFloating("act_and_mul", "gate_up", gateUp);
    TORCH_CHECK_VALUE(gateUp.dim() >= 1 && gateUp.size(-1) % 2 == 0,
                      "workbench::act_and_mul: the last dimension of gate_up must be even, got ",
                      gateUp.sizes(), ".");
}

c10::SmallVector<int64_t, 6> outputShape(const at::Tensor& gateUp) {
    c10::SmallVector<int64_t, 6> shape(gateUp.sizes().begin(), gateUp.sizes().end());
    shape.back() /= 2;
    return shape;
}

ActAndMulCall callOf(const RowTensor& gateUp, Activation activation, at::Tensor& output) {
    ActAndMulCall call{};
    call.dtype = output.scalar_type();
    call.gateUp = gateUp.rows;
    call.output = output.mutable_data_ptr();
    call.activation = activation;
    return call;
}

void run(const at::Tensor& gateUp, Activation activation, at::Tensor& output) {
    if (output.numel() == 0)
        return;
    const RowTensor rows = asRows(gateUp);
    kernelsFor("act_and_mul", gateUp).actAndMul(callOf(rows, activation, output));
}

} // namespace

at::Tensor actAndMul(const at::Tensor& gateUp, Activation activation) {
    checkInput(gateUp);
    at::Tensor output = emptyOf(outputShape(gateUp), gateUp);
    run(gateUp, activation, output);
    return output;
}

void actAndMulInto(at::Tensor& output, const at::Tensor& gateUp, Activation activation) {
    checkInput(gateUp);
    checkOutput("act_and_mul", "output", output, outputShape(gateUp), gateUp);
    run(gateUp, activation, output);
}

std::optional<ActAndMulCall> bindActAndMul(at::Tensor& output, const at::Tensor& gateUp,
                                           Activation activation) {
    checkInput(gateUp);
    checkOutput("act_and_mul", "output", output, outputShape(gateUp), gateUp);
    const RowTensor rows = asRows(gateUp);
    if (output.numel() == 0 || !rows.tensor.is_same(gateUp))
        return std::nullopt;
    return callOf(rows, activation, output);
}

} // namespace workbench::ops
