// Attention over sequences of unequal lengths that lie side by side, each with the keys that its queries see.
#pragma once

#include "runtime/ops/attention_tables.h"

namespace workbench::ops {

/// Whether PyTorch's flash attention computes this call: bfloat16 or float16, no softcap, sinks or slopes, a
/// causal or sliding mask, one width that is a multiple of 8 and at most 256. The same answer on every
/// device.
bool flashKnows(const AttentionArgs& args);

/// Of `args` the scale, mask and window. query [P, Hq, D], key and value [K, Hkv, D] are contiguous; the last
/// query of each sequence stands at its last key. The mask must be causal or sliding. On a GPU this is flash
/// attention, for which flashKnows(args) must hold; on the CPU plain ATen in float32. [P, Hq, D] of the
/// query's dtype.
at::Tensor varlenAttention(const AttentionArgs& args, const PromptTables& prompts, const at::Tensor& query,
                           const at::Tensor& key, const at::Tensor& value);

} // namespace workbench::ops
