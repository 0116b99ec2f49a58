// What the operators ask of a device: one table of functions per CPU instruction set (the same sources
// compiled several times) and one for CUDA. Outputs are contiguous and already allocated; arguments have been
// checked and lie on the table's device. CPU kernels spread their work over the threads of thread_pool.h,
// CUDA kernels are queued on the current stream. C++17, as nvcc compiles it too.
#pragma once

#include "runtime/ops/attention_plan.h"
#include "runtime/ops/op_types.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <vector>

namespace workbench::ops {

struct RmsNormCall {
    c10::ScalarType dtype;
    Rows input;
    Rows residual;                // data null: no addition
    const void* weight = nullptr; // [width] or null
    void* normed = nullptr;
    void* sum = nullptr; // where input + residual goes
    NormSpec spec;
};

struct ActAndMulCall {
    c10::ScalarType dtype;
    Rows gateUp; // width 2D
    void* output = nullptr;
    Activation activation;
};

struct RopeCall {
    c10::ScalarType dtype;
    int64_t batch = 0;
    int64_t tokens = 0;
    int64_t width = 0;       // of a head
    int64_t rotaryWidth = 0; // of cos and sin
    Heads sides[2];          // query, key
    void* outputs[2] = {nullptr, nullptr};
    const void* cos = nullptr;
    const void* sin = nullptr;
    int64_t cosStrides[2] = {0, 0}; // batch, token
    int64_t sinStrides[2] = {0, 0};
    RopeStyle style;
    bool norm = false; // RMSNorm over each head first
    const void* weights[2] = {nullptr, nullptr};
    NormSpec spec;
};

/// Rows of a packed weight that lie together (packed_weight.h).
struct PanelBlock {
    const void* panels = nullptr;
    int64_t rows = 0;
    WeightFormat format = WeightFormat::stored;
};

/// output [rows, outputs] = input [rows, columns] times the transposed weight, plus the bias. The blocks'
/// rows follow each other in the output; all blocks have one format.
struct LinearCall {
    c10::ScalarType dtype; // float32 or bfloat16; sums are kept in float32
    const void* input = nullptr;
    int64_t rows = 0;
    int64_t columns = 0;
    const PanelBlock* blocks = nullptr;
    int64_t blockCount = 0;
    int64_t outputs = 0;
    const void* bias = nullptr; // [outputs] or null
    void* output = nullptr;
};

/// LinearCall for groups of rows that each have a weight of their own: row r of the output is row
/// inputRows[r] (r itself where that is null) of the input times the block of the group that r is in. Group g
/// has the rows begins[g] to begins[g + 1].
struct GroupedLinearCall {
    c10::ScalarType dtype;
    const void* input = nullptr;
    const int64_t* inputRows = nullptr;
    int64_t columns = 0;
    const PanelBlock* blocks = nullptr; // [groups], each of `outputs` rows, all of one format
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

/// Where the tokens of a call stand in a paged cache. All of it is on the device: a kernel reads there what
/// it is to do.
struct PagePlaces {
    const int64_t* positions = nullptr; // [tokens] in the token's sequence
    const int32_t* sequences = nullptr; // [tokens] row of `blocks`
    const int32_t* blocks = nullptr;    // [sequences, blockColumns]
    int64_t blockColumns = 0;
    int64_t blockTokens = 0;
};

/// Each token's key and value go to its slot.
struct StorePagesCall {
    c10::ScalarType dtype;
    PagePlaces places;
    int64_t tokens = 0;
    int64_t kvHeads = 0;
    const void* fresh[2] = {nullptr, nullptr}; // keys and values, last dimension contiguous
    int64_t freshStrides[2][2] = {};           // head, token
    void* pages[2] = {nullptr, nullptr};
    int64_t pageStrides[2][3] = {}; // block, head, slot
    int64_t widths[2] = {0, 0};
};

/// Attention of `rows` tokens of a call, each by itself over the pages up to its position (or the range that
/// the mask shows: visibleAt()). That range is cut into parts of partKeys from its first key on, of which
/// there are `parts` at most; with several, each leaves a partial result, and these are joined. Parts without
/// keys leave nothing.
struct PagedRowsCall {
    c10::ScalarType dtype;
    PagePlaces places;
    const int64_t* tokens = nullptr; // [rows] index of the token in the call; null: 0, 1, 2, ...
    int64_t rows = 0;
    int64_t queryHeads = 0;
    int64_t kvHeads = 0;
    int64_t width = 0;      // of query and key
    int64_t valueWidth = 0; // of value and output
    const void* query = nullptr;
    const void* key = nullptr;
    const void* value = nullptr;
    void* output = nullptr;              // [1, T, Hq, Dv] contiguous
    int64_t queryStrides[2] = {0, 0};    // head, token
    int64_t keyStrides[3] = {0, 0, 0};   // block, head, slot
    int64_t valueStrides[3] = {0, 0, 0}; // block, head, slot
    double scale = 1;
    double softcap = 0;
    MaskKind mask = MaskKind::Causal; // not Full
    int64_t window = 0;
    const double* sinks = nullptr;  // [queryHeads] or null
    const double* slopes = nullptr; // [queryHeads] or null
    int64_t partKeys = 0;           // multiple of kPagedPart
    int64_t parts = 1;
    // [rows, queryHeads, parts, valueWidth + 2] of float (double for float64): maximum, sum, values; null for
    // one part.
    void* partials = nullptr;
};

/// The list of all kernels: name, call, and the op whose work it does, under which its time is reported.
/// Tables and declarations are made from it; each entry needs one definition in cpu/, for all instruction
/// sets, and one in cuda/.
#define WORKBENCH_KERNELS(KERNEL)                                                                            \
    KERNEL(rmsNorm, RmsNormCall, "workbench.rms_norm")                                                       \
    KERNEL(actAndMul, ActAndMulCall, "workbench.act_and_mul")                                                \
    KERNEL(rope, RopeCall, "workbench.rope")                                                                 \
    KERNEL(attention, AttentionCall, "workbench.attention")                                                  \
    KERNEL(storePages, StorePagesCall, "workbench.attention")                                                \
    KERNEL(pagedRows, PagedRowsCall, "workbench.attention")                                                  \
    KERNEL(moeProduct, MoeProductCall, "workbench.moe_experts")                                              \
    KERNEL(moeSum, MoeSumCall, "workbench.moe_experts")                                                      \
    KERNEL(moeRoute, MoeRouteCall, "workbench.moe_route")

/// Kernels of the CPU alone: a GPU's products read plain weights.
#define WORKBENCH_CPU_KERNELS(KERNEL)                                                                        \
    KERNEL(linear, LinearCall, "aten.linear")                                                                \
    KERNEL(groupedLinear, GroupedLinearCall, "workbench.moe_experts")

#define WORKBENCH_KERNEL_POINTER(NAME, CALL, OP) void (*NAME)(const CALL&);
#define WORKBENCH_KERNEL_DECLARATION(NAME, CALL, OP) void NAME(const CALL& call);
#define WORKBENCH_KERNEL_ENTRY(NAME, CALL, OP) NAME,

struct Kernels {
    const char* name; // of the instruction set, or "cuda"
    WORKBENCH_KERNELS(WORKBENCH_KERNEL_POINTER)
    WORKBENCH_CPU_KERNELS(WORKBENCH_KERNEL_POINTER) // null in CUDA's table
};

/// The table for the instruction set that LibTorch chose (ATEN_CPU_CAPABILITY forces a lower one), or the
/// next lower one that was built.
const Kernels& cpuKernels();

/// All tables that this machine can run, the plainest first: tests compare them.
const std::vector<const Kernels*>& cpuKernelSets();

/// Null when the library was built without CUDA.
const Kernels* cudaKernels();

} // namespace workbench::ops
