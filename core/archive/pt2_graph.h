#pragma once

#include "core/archive/pt2_scope.h"

namespace workbench::pt2 {

/// The Graph of a torch.export program (the parsed models/model.json). Symbolic scalars become
/// SymInts, assertions (`_assert_tensor_metadata`, `_assert_scalar`, `_assert_async`,
/// `sym_constrain_range*`) are dropped, and
/// no-grad and disabled-autocast regions are inlined. An error is the first thing that cannot be expressed,
/// with its node. JSON type errors throw nlohmann's exceptions.
Result<Graph> buildGraph(const Json& program);

} // namespace workbench::pt2
