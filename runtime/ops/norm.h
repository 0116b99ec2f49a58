// RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467), alone and after a residual addition.
//
//   y = x * rsqrt(mean(x^2) + eps) over the last dimension, computed in float32 (float64 for float64)
//   NormCast::BeforeWeight   round(y) * weight; with an offset, weight is round(weightOffset + weight)
//   NormCast::AfterWeight    round(y * (weightOffset + weight))
//
// Shapes: input [..., D] of float32, float64, bfloat16 or float16, any strides; weight [D] of the input's
// dtype, contiguous, or none. Errors: c10::ValueError for shapes and dtypes, c10::Error for a device without
// kernels.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/op_types.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace workbench::ops {

at::Tensor rmsNorm(const at::Tensor& input, const std::optional<at::Tensor>& weight, const NormSpec& spec);

/// `output`: contiguous, like input; may be the input itself.
void rmsNormInto(at::Tensor& output, const at::Tensor& input, const std::optional<at::Tensor>& weight,
                 const NormSpec& spec);

/// {rmsNorm(sum), sum} with sum = round(input + residual).
std::tuple<at::Tensor, at::Tensor> addRmsNorm(const at::Tensor& input, const at::Tensor& residual,
                                              const std::optional<at::Tensor>& weight, const NormSpec& spec);

/// `normed` and `sum`: contiguous, like input, distinct; either may be the input or the residual itself.
void addRmsNormInto(at::Tensor& normed, at::Tensor& sum, const at::Tensor& input, const at::Tensor& residual,
                    const std::optional<at::Tensor>& weight, const NormSpec& spec);

/// What the ...Into forms ask of the kernels, checked once: for who asks it again and again with new numbers
/// in the same tensors, which must live as long. nullopt where there is nothing to do or strides ask for a
/// copy.
std::optional<RmsNormCall> bindRmsNorm(at::Tensor& output, const at::Tensor& input,
                                       const std::optional<at::Tensor>& weight, const NormSpec& spec);
std::optional<RmsNormCall> bindAddRmsNorm(at::Tensor& normed, at::Tensor& sum, const at::Tensor& input,
                                          const at::Tensor& residual, const std::optional<at::Tensor>& weight,
                                          const NormSpec& spec);

} // namespace workbench::ops
