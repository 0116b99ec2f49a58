// Products with packed weights on the CPU: y = x W^T + bias, sums in float32, rounded once to the input's
// dtype as at::linear does.
//
// Shapes: input [..., columns] of float32 or bfloat16 like the weight; bias [rows of the weight] of the same
// dtype or null; the result is [..., rows of the weight]. A product with few rows reads the weight at the
// speed of memory; one with many rows runs at that of the instruction set's multiplications, whichever weight
// it is.
#pragma once

#include "runtime/ops/packed_weight.h"

#include <ATen/core/Tensor.h>

#include <optional>

namespace workbench::ops {

at::Tensor linear(const at::Tensor& input, const PackedWeight& weight, const std::optional<at::Tensor>& bias);
/// The same with the kernels of one instruction set.
at::Tensor linearWith(const Kernels& kernels, const at::Tensor& input, const PackedWeight& weight,
                      const std::optional<at::Tensor>& bias);
/// `output`: contiguous, of the result's shape, and shares no memory with the arguments.
void linearInto(at::Tensor& output, const at::Tensor& input, const PackedWeight& weight,
                const std::optional<at::Tensor>& bias);
/// See bindRmsNorm(); the weight must live as long, too.
std::optional<LinearCall> bindLinear(at::Tensor& output, const at::Tensor& input, const PackedWeight& weight,
                                     const std::optional<at::Tensor>& bias);

/// Rows of a packed weight: indices [...] of int64 or int32 give [..., columns], as at::embedding does.
at::Tensor embedding(const PackedWeight& weight, const at::Tensor& indices);
/// `output`: contiguous [..., columns].
void embeddingInto(at::Tensor& output, const PackedWeight& weight, const at::Tensor& indices);

} // namespace workbench::ops
