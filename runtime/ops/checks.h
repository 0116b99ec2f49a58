// Checks and views that the operators share. Every failure is one sentence that names the operator and the
// argument (c10::Error).
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/op_types.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace workbench::ops {

/// The schemas' string arguments.
NormCast parseCast(const char* op, std::string_view name);
Activation parseActivation(const char* op, std::string_view name);
RopeStyle parseStyle(const char* op, std::string_view name);
MaskKind parseMask(const char* op, std::string_view name);
RouteOrder parseRouteOrder(std::string_view name);

/// float32, float64, bfloat16 or float16.
void checkFloating(const char* op, const char* argument, const at::Tensor& tensor);

/// Same dtype and device as `first`, which is the argument called `firstName`.
void checkLike(const char* op, const char* argument, const at::Tensor& tensor, const char* firstName,
               const at::Tensor& first);

/// A norm's weight: null, or [width] like `input`, contiguous.
void checkWeight(const char* op, const char* argument, const std::optional<at::Tensor>& weight,
                 const at::Tensor& input);

/// An output that the caller allocated: contiguous, of this shape, like `input`.
void checkOutput(const char* op, const char* argument, const at::Tensor& output, at::IntArrayRef shape,
                 const at::Tensor& input);

/// Memory for an output of the dtype and device of `like`, contiguous. On the CPU without the dispatcher: a
/// step of a small model makes hundreds of them.
at::Tensor emptyOf(at::IntArrayRef sizes, const at::Tensor& like);

/// The kernels for the tensor's device; throws for a device that has none.
const Kernels& kernelsFor(const char* op, const at::Tensor& tensor);

/// A tensor as rows. `tensor` keeps the memory alive: it is a copy when the strides do not merge into Rows.
struct RowTensor {
    at::Tensor tensor;
    Rows rows;
};
RowTensor asRows(const at::Tensor& tensor);

/// `tensor` itself, or a copy when its last dimension is not contiguous.
at::Tensor withContiguousRows(const at::Tensor& tensor);

/// Null for nullopt. The tensor is contiguous.
const void* dataOrNull(const std::optional<at::Tensor>& tensor);

} // namespace workbench::ops
