// What all forms of attention share: checks, and the way from tensors to the plain structs of the kernels.
#pragma once

#include "runtime/ops/attention.h"
#include "runtime/ops/attention_plan.h"

#include <array>
#include <optional>

namespace workbench::ops {

/// The window must fit the kind of mask; `op` names the operator in the message.
void checkMaskWindow(const char* op, MaskKind kind, int64_t window);
void checkAttention(const AttentionArgs& args);
/// The part of it that looks at positions.
void checkTokens(const AttentionArgs& args);
/// The cache fits the call, whose mask has a cached form.
void checkPages(const AttentionArgs& args, const PagedKvView& cache);
std::array<int64_t, 4> attentionOutputShape(const AttentionArgs& args);

/// A call and the tensors whose memory it points to.
struct BoundAttention {
    AttentionCall call;
    at::Tensor query;
    std::optional<at::Tensor> sinks;
    std::optional<at::Tensor> slopes;
};

/// All but keys, values and spans. `output` is [1, T, Hq, Dv].
BoundAttention bindAttention(const AttentionArgs& args, const at::Tensor& output);

/// Strides of heads and tokens.
void setStrides(const at::Tensor& tensor, int headDim, int tokenDim, int64_t (&strides)[2]);

/// `data` moved by so many elements of the tensor's dtype.
const char* advance(const void* data, int64_t elements, const at::Tensor& tensor);

} // namespace workbench::ops
