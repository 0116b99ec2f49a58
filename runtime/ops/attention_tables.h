// Attention over a paged cache whose every input is a tensor of the call's device: nothing of a step is known
// to the host but its sizes. This is the form that a GPU runs, and that a CUDA graph can capture and replay
// with new numbers in the same tensors. The CPU has plain kernels of it, against which the GPU's are tested;
// its own fast form is attentionPaged().
//
// Formula, masks and errors: attention.h. Shapes are checked; what positions, sequences and blocks hold is on
// the device and trusted: a wrong number reads or writes memory that is not the cache's.
#pragma once

#include "runtime/ops/attention.h"
#include "runtime/ops/paged_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace workbench::ops {

/// Tokens of sequences that have several of them in a call (prompts, and chunks of prompts), sequence after
/// sequence. Their keys are those of the cache from the first that the first of them sees up to the last of
/// them.
struct PromptTables {
    at::Tensor tokens;       // int64 [P]: index of the token in the call
    at::Tensor queryEnds;    // int32 [n + 1]: 0, then where each sequence's tokens end in `tokens`
    at::Tensor keyBlocks;    // int64 [K]: block of each key
    at::Tensor keySlots;     // int64 [K]: and its slot in the block
    at::Tensor keyEnds;      // int32 [n + 1]: 0, then where each sequence's keys end
    int64_t mostQueries = 0; // of one sequence
    int64_t mostKeys = 0;
};

/// Which blocks the tokens of a call are in, for the layers that share blocks. Position p of a sequence lies
/// in slot p % block tokens of block blocks[sequence, p / block tokens]; entries that no query sees may hold
/// anything. All tensors are contiguous and on the device of the call.
struct PagedTables {
    at::Tensor sequences; // int32 [T]: row of `blocks` of each token's sequence
    at::Tensor blocks;    // int32 [S, W]
    at::Tensor singles;   // int64 [N]: tokens that are alone in their sequence; undefined: all tokens are
    PromptTables prompts; // of all others; without tokens where `singles` is undefined
    int64_t mostKeys = 0; // no token sees more; may be rounded up, also past a window
};

/// Stores the call's keys and values in their slots, then attends over each token's sequence up to the
/// token's position. Prompts take flash attention where that knows the form (attention_varlen.h); every other
/// token one kernel that reads the blocks in parts (paged_plan.h), a prompt's tokens among them each by
/// itself: right, not fast. Never waits for the device. Without prompts, what it launches depends on shapes
/// and mostKeys alone: a graph that was captured with mostKeys serves all calls that need no more. Padding
/// tokens may stand at position 0 of a sequence whose block nobody else reads. [1, T, Hq, Dv], contiguous.
at::Tensor attentionOnTables(const AttentionArgs& args, PagedKvView& cache, const PagedTables& tables);

} // namespace workbench::ops
