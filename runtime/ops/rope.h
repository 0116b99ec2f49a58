// Rotary position embedding (Su et al. 2021, arXiv:2104.09864) of query and key, alone and after an RMSNorm
// over each head.
//
//   out = round(round(x * cos) + round(rot(x) * sin)) for the first R dimensions of a head
//   RopeStyle::Half          rot(x) = cat(-x[R/2:R], x[:R/2])
//   RopeStyle::Interleaved   rot(x)[2i] = -x[2i + 1], rot(x)[2i + 1] = x[2i]
//
// The other dimensions of a head pass through.
//
// All tensors have one dtype (float32, float64, bfloat16, float16) and device. cos and sin [B or 1, T, R], R
// even and at most D. Errors: c10::ValueError for shapes and dtypes, c10::Error for a device without kernels.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/op_types.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace workbench::ops {

/// query [B, Hq, T, D], key [B, Hk, T, D], any strides -> the same shapes, contiguous.
std::tuple<at::Tensor, at::Tensor> rope(const at::Tensor& query, const at::Tensor& key, const at::Tensor& cos,
                                        const at::Tensor& sin, RopeStyle style);

/// The outputs are contiguous and share no memory with the inputs.
void ropeInto(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query, const at::Tensor& key,
              const at::Tensor& cos, const at::Tensor& sin, RopeStyle style);

struct QkNorm {
    std::optional<at::Tensor> queryWeight; // [D] or none
    std::optional<at::Tensor> keyWeight;
    NormSpec spec;
};

/// query [B, T, Hq, D], key [B, T, Hk, D] (before the transpose), any strides -> [B, Hq, T, D], [B, Hk, T,
/// D], contiguous.
std::tuple<at::Tensor, at::Tensor> qkNormRope(const at::Tensor& query, const at::Tensor& key,
                                              const QkNorm& norm, const at::Tensor& cos,
                                              const at::Tensor& sin, RopeStyle style);

/// The outputs are contiguous and share no memory with the inputs.
void qkNormRopeInto(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query, const at::Tensor& key,
                    const QkNorm& norm, const at::Tensor& cos, const at::Tensor& sin, RopeStyle style);

/// See bindRmsNorm().
std::optional<RopeCall> bindRope(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query,
                                 const at::Tensor& key, const at::Tensor& cos, const at::Tensor& sin,
                                 RopeStyle style);
std::optional<RopeCall> bindQkNormRope(at::Tensor& queryOut, at::Tensor& keyOut, const at::Tensor& query,
                                       const at::Tensor& key, const QkNorm& norm, const at::Tensor& cos,
                                       const at::Tensor& sin, RopeStyle style);

} // namespace workbench::ops
