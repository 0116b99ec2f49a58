// A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538), gated as in Mixtral (arXiv:2401.04088).
//
//   moeExperts  y[t] = sum_i w[t, i] * D[e] (act(G[e] x[t]) * U[e] x[t]),  e = indices[t, i]
//   moeRoute    which experts a token goes to, and with what weights
//
// Rounding is that of transformers' batched experts: both products, the activation and the gated value are
// rounded to the tokens' dtype; so are the weighted outputs where the routing weights have that dtype.
// Routing weights in float32 keep them, and their sum, in float32 until the end.
//
// Shapes: hidden [tokens, H]; routing weights and indices (int64) [tokens, k]; gate_up [experts, 2I, H], gate
// first; down [experts, O, I] -> [tokens, O]. Logits [tokens, experts] -> weights and indices [tokens, k].
// Any strides but for weights, which are contiguous. Errors: c10::ValueError for shapes and dtypes,
// c10::IndexError for an index that is no expert's (negative ones count from the end; a GPU asserts on its
// own), c10::Error for a device without kernels.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/ops/op_types.h"
#include "runtime/ops/packed_weight.h"

#include <ATen/core/Tensor.h>

#include <tuple>

namespace workbench::ops {

struct MoeArgs {
    at::Tensor hidden;
    at::Tensor routingWeights;
    at::Tensor indices;
    Activation activation = Activation::Silu;
};

/// With plain weights of any floating-point dtype.
at::Tensor moeExperts(const MoeArgs& args, const at::Tensor& gateUp, const at::Tensor& down);
/// With packed weights of one block for each expert (PackedWeight::of a 3-D tensor), on the CPU: each expert
/// that was chosen is read once.
at::Tensor moeExperts(const MoeArgs& args, const PackedWeight& gateUp, const PackedWeight& down);
/// The same with the kernels of one instruction set.
at::Tensor moeExpertsWith(const Kernels& kernels, const MoeArgs& args, const PackedWeight& gateUp,
                          const PackedWeight& down);

/// The matrices of a packed weight that `indices` pick, as indexing the plain weight does: [n] int64 -> [n,
/// rows of an expert, columns].
at::Tensor pickExperts(const PackedWeight& weight, const at::Tensor& indices);

struct RouteSpec {
    int64_t topK = 1;
    RouteOrder order = RouteOrder::SoftmaxFirst;
    bool renormalize = false;          ///< the weights of a token add up to 1
    bool sorted = true;                ///< largest first; else in the order that at::topk leaves them in
    at::ScalarType dtype = at::kFloat; ///< of the weights; everything before is computed in float32
};

std::tuple<at::Tensor, at::Tensor> moeRoute(const at::Tensor& logits, const RouteSpec& spec);
std::tuple<at::Tensor, at::Tensor> moeRouteWith(const Kernels& kernels, const at::Tensor& logits,
                                                const RouteSpec& spec);

} // namespace workbench::ops
