// Scaled dot-product attention, in the forms that programs run:
//
//   attention()           sequences side by side, without a cache: verification, training     attention.cpp
//   attentionWithCache()  one sequence over a cache in one piece: a program by itself          attention.cpp
//   attentionPaged()      any sequences over a paged cache, as the host knows them: the
//                         engine's form on the CPU                                   attention_paged.cpp
//   attentionOnTables()   the same as tensors of a device know them: the engine's form on
//                         a GPU, with flash attention for prompts                   attention_tables.cpp
//
//   logit(i, j) = scale * query_i . key_j
//                 then softcap * tanh(logit / softcap) if softcap is not 0
//                 then + slope * (j - i)  (ALiBi)
//   output_i    = sum_j exp(logit(i, j)) value_j / (sum_j exp(logit(i, j)) + exp(sink))
//
// Sums run over the keys j that i sees.
// A sequence is a maximal run with positions[t + 1] == positions[t] + 1; tokens see only their own sequence
// (see MaskKind). Sums are kept in float32 (float64 for float64), nothing but the output is rounded. Query
// head h uses key head h / (Hq / Hkv). Errors: c10::ValueError for shapes, dtypes and ranges, c10::Error for
// a device without kernels.
#pragma once

#include "runtime/ops/op_types.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace workbench::ops {

struct AttentionArgs {
    at::Tensor query;     // [1, Hq, T, D], any strides
    at::Tensor key;       // [1, Hkv, T, D]
    at::Tensor value;     // [1, Hkv, T, Dv]
    at::Tensor positions; // [1, T] int64
    int64_t layer = 0;    // the layer's number: which cache an engine binds, no part of the computation
    double scale = 1;
    MaskKind mask = MaskKind::Causal;
    int64_t window = 0;               // tokens, 0 unless sliding or chunked
    double softcap = 0;               // 0: none
    std::optional<at::Tensor> sinks;  // [Hq], one more logit per head in the denominator
    std::optional<at::Tensor> slopes; // [Hq]
};

/// [1, T, Hq, Dv] of the query's dtype, contiguous.
at::Tensor attention(const AttentionArgs& args);

/// Memory for the output of any form below.
at::Tensor emptyAttention(const AttentionArgs& args);

/// `output`: contiguous [1, T, Hq, Dv] that shares no memory with the arguments.
void attentionInto(at::Tensor& output, const AttentionArgs& args);

/// Keys and values of one layer and one sequence: row j belongs to position j. CPU only. Any order in memory
/// works.
struct KvCacheView {
    at::Tensor key;     // [capacity, Hkv, D], last dimension contiguous, dtype of the call
    at::Tensor value;   // [capacity, Hkv, Dv]
    int64_t length = 0; // rows that hold a token
};

/// An empty cache whose rows of one head lie together: decoding reads head by head, so that memory is read in
/// one stream. runtime_ops_bench: 31 GB/s where one thread reads memory at 32, against 13 with the rows of
/// one token together.
KvCacheView makeKvCache(int64_t capacity, int64_t kvHeads, int64_t width, int64_t valueWidth,
                        at::ScalarType dtype);

/// Stores the call's keys and values at their positions, then attends over the cache from position 0 to the
/// query. positions must be one run that starts at or before cache.length (before: later rows are forgotten)
/// and fits in the capacity. Sets cache.length to the position after the last. MaskKind::Full has no cached
/// form: earlier tokens would have to see later ones.
at::Tensor attentionWithCache(const AttentionArgs& args, KvCacheView& cache);

/// The same with the output as in attentionInto().
void attentionWithCacheInto(at::Tensor& output, const AttentionArgs& args, KvCacheView& cache);

/// Keys and values of one layer in blocks of equally many tokens, for any number of sequences, on one device.
struct PagedKvView {
    at::Tensor key;   // [blocks, Hkv, block tokens, D], last dimension contiguous, dtype of the call
    at::Tensor value; // [blocks, Hkv, block tokens, Dv]
};

/// Tokens [firstToken, firstToken + tokens) of a call: one sequence, from position firstPosition on. Position
/// p lies in slot p % block tokens of block blocks[p / block tokens]; entries that no query sees may be
/// negative.
struct PagedSequence {
    int64_t firstToken = 0;
    int64_t tokens = 0;
    int64_t firstPosition = 0;
    const int32_t* blocks = nullptr;
    int64_t blockCount = 0;
};

/// Stores the call's keys and values in their blocks, then attends over each sequence's blocks from position
/// 0 (or the first that the mask shows) to the query. `sequences` are the call's tokens in order, all of
/// them. Two sequences may share blocks that neither writes to. MaskKind::Full has no cached form.
at::Tensor attentionPaged(const AttentionArgs& args, PagedKvView& cache,
                          c10::ArrayRef<PagedSequence> sequences);

/// The same with the output as in attentionInto().
void attentionPagedInto(at::Tensor& output, const AttentionArgs& args, PagedKvView& cache,
                        c10::ArrayRef<PagedSequence> sequences);

struct BoundAttention;

/// attentionPagedInto() again and again with new numbers in the same tensors: what does not change is checked
/// and bound once. Copies share that, so that one of them may run at a time.
class PagedAttention {
public:
    /// `args` with positions of the right shape, if not yet with those of a call.
    PagedAttention(at::Tensor output, AttentionArgs args);
    /// False where the query's strides ask for a copy, which each call would have to make.
    bool isUsable() const;
    void run(const at::Tensor& positions, PagedKvView& cache, c10::ArrayRef<PagedSequence> sequences);

private:
    at::Tensor m_output;
    AttentionArgs m_args;
    std::shared_ptr<BoundAttention> m_bound;
};

/// bool [1, 1, T, T]: which token (row) sees which (column). Illegal uses of a mask stay visible as users of
/// this operator.
at::Tensor mask(const at::Tensor& positions, MaskKind kind, int64_t window);

} // namespace workbench::ops
