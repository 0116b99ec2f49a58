// The gated activation of feed-forward blocks (Shazeer 2020, arXiv:2002.05202): act(x[..., :D]) * x[..., D:].
//
// The activation is computed in float32 and rounded to the input's dtype before the product, as eager PyTorch
// does. Shapes: gateUp [..., 2D] of float32, float64, bfloat16 or float16, any strides -> [..., D],
// contiguous. Errors: c10::ValueError for shapes and dtypes, c10::Error for a device without kernels.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/op_types.h"

#include <ATen/core/Tensor.h>

#include <optional>

namespace workbench::ops {

at::Tensor actAndMul(const at::Tensor& gateUp, Activation activation);

/// `output`: contiguous [..., D] that shares no memory with gateUp.
void actAndMulInto(at::Tensor& output, const at::Tensor& gateUp, Activation activation);

/// See bindRmsNorm().
std::optional<ActAndMulCall> bindActAndMul(at::Tensor& output, const at::Tensor& gateUp,
                                           Activation activation);

} // namespace workbench::ops
