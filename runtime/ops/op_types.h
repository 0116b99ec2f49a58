// The vocabulary of the operators: what a schema's string arguments mean, and how a kernel sees a strided
// tensor. No LibTorch here.
#pragma once

#include <cstdint>

namespace workbench::ops {

/// Where RMSNorm rounds to the tensor's dtype: `BeforeWeight` as LlamaRMSNorm does, `AfterWeight` as
/// Gemma2RMSNorm and Olmo2RMSNorm do.
enum class NormCast { BeforeWeight, AfterWeight };

enum class Activation { Silu, Gelu, GeluTanh, Relu, Sigmoid };

/// How rotary embedding pairs dimensions of R: `Half` i with i + R/2, `Interleaved` 2i with 2i + 1.
enum class RopeStyle { Half, Interleaved };

/// Which earlier tokens of its sequence a token sees: all; the last `window`; those of its chunk position /
/// window; also later ones.
enum class MaskKind { Causal, Sliding, Chunked, Full };

/// How a router makes its weights: softmax over all experts, then the selection; or the selection by logits,
/// then softmax over the selected ones.
enum class RouteOrder { SoftmaxFirst, TopKFirst };

/// How the numbers of a product's weight are kept: as they are stored in the checkpoint, or in 8 or
/// 4 bits (quantised_panel.h).
enum class WeightFormat { stored, int8, int4 };

struct NormSpec {
    double eps = 1e-6;
    double weightOffset = 0;
    NormCast cast = NormCast::BeforeWeight;
};

/// Rows of a strided tensor whose last dimension is contiguous: the leading dimensions, merged down to three.
/// Strides in elements.
struct Rows {
    const void* data = nullptr;
    int64_t width = 0;
    int64_t sizes[3] = {1, 1, 1};
    int64_t strides[3] = {0, 0, 0};

    constexpr int64_t count() const { return sizes[0] * sizes[1] * sizes[2]; }
    constexpr int64_t offset(int64_t row) const {
        const int64_t inner = row % sizes[2];
        const int64_t rest = row / sizes[2];
        return (rest / sizes[1]) * strides[0] + (rest % sizes[1]) * strides[1] + inner * strides[2];
    }
};

/// [batch, heads, tokens, width] with a contiguous last dimension, whatever the order in memory. Strides in
/// elements.
struct Heads {
    const void* data = nullptr;
    int64_t heads = 0;
    int64_t batchStride = 0;
    int64_t headStride = 0;
    int64_t tokenStride = 0;
};

} // namespace workbench::ops
