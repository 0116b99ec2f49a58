// The tables of a call, made on the host. For tests and for the operator that they call: it waits for the
// device, which an engine that knows its sequences never has to.
#pragma once

#include "runtime/ops/attention_tables.h"

namespace workbench::ops {

/// sequences int32 [T] and blocks int32 [S, W] as in PagedTables. The tokens of a sequence stand in the call
/// in order and at consecutive positions. Errors: c10::ValueError where they do not, and for a position,
/// sequence or block that does not exist.
PagedTables hostTables(const AttentionArgs& args, const PagedKvView& cache, const at::Tensor& sequences,
                       const at::Tensor& blocks);

} // namespace workbench::ops
