// What the operators of mixtures of experts ask of a device: tables beside those of kernels.h, one for each
// instruction set and one for CUDA. The same holds for calls: outputs are allocated, arguments checked.
#pragma once

#include "runtime/ops/kernels.h"

namespace workbench::ops {

/// How a router makes its weights: softmax over all experts, then the selection; or the selection by logits,
/// then softmax over the selected ones.
enum class RouteOrder { SoftmaxFirst, TopKFirst };

/// LinearCall for groups of rows that each have a weight of their own: row r of the output is row
/// inputRows[r] (r itself where that is null) of the input times the block of the group that r is in. Group g
/// has the rows begins[g] to begins[g + 1].
struct GroupedLinearCall {
    c10::ScalarType dtype;
    const void* input = nullptr;
    const int64_t* inputRows = nullptr;
    int64_t columns = 0;
    const PanelBlock* blocks = nullptr; // [groups], each of `outputs` rows
    const int64_t* begins = nullptr;    // [groups + 1]
    int64_t groups = 0;
    int64_t outputs = 0;
    void* output = nullptr;
};

/// The same with plain weights [experts, outputs, columns] of any dtype: pair p has the weight experts[p].
/// Pairs of one expert follow each other.
struct MoeProductCall {
    c10::ScalarType dtype;
    const void* input = nullptr;
    const int64_t* inputRows = nullptr; // [pairs] or null
    const int64_t* experts = nullptr;   // [pairs]
    int64_t pairs = 0;
    int64_t columns = 0;
    int64_t outputs = 0;
    const void* weights = nullptr;
    void* output = nullptr; // [pairs, outputs]
};

/// output[t] = sum over i < topK of outputs[places[t, i]] * routingWeights[t, i].
struct MoeSumCall {
    c10::ScalarType dtype;
    c10::ScalarType weightsDtype;    // dtype, or float32
    const void* outputs = nullptr;   // [tokens * topK, width]
    const int64_t* places = nullptr; // [tokens, topK]
    const void* routingWeights = nullptr;
    int64_t tokens = 0;
    int64_t topK = 0;
    int64_t width = 0;
    void* output = nullptr; // [tokens, width]
};

struct MoeRouteCall {
    c10::ScalarType logitsDtype;
    c10::ScalarType weightsDtype;
    const void* logits = nullptr; // [tokens, experts]
    int64_t tokens = 0;
    int64_t experts = 0;
    int64_t topK = 0;
    RouteOrder order = RouteOrder::SoftmaxFirst;
    bool renormalize = false;
    bool sorted = true;
    void* weights = nullptr; // [tokens, topK]
    int64_t* indices = nullptr;
};

/// As in kernels.h: the list that tables and declarations are made from, and that of the CPU alone.
#define WORKBENCH_MOE_KERNELS(KERNEL)                                                                        \
    KERNEL(moeProduct, MoeProductCall)                                                                       \
    KERNEL(moeSum, MoeSumCall)                                                                               \
    KERNEL(moeRoute, MoeRouteCall)
#define WORKBENCH_MOE_CPU_KERNELS(KERNEL) KERNEL(groupedLinear, GroupedLinearCall)

struct MoeKernels {
    WORKBENCH_MOE_KERNELS(WORKBENCH_KERNEL_POINTER)
    WORKBENCH_MOE_CPU_KERNELS(WORKBENCH_KERNEL_POINTER) // null in CUDA's table
};

/// The table that belongs to `kernels`, one of cpuKernelSets() or cudaKernels().
const MoeKernels& moeKernels(const Kernels& kernels);

/// CUDA's; null when the library was built without.
const MoeKernels* cudaMoeKernels();

} // namespace workbench::ops
