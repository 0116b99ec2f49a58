#pragma once

#include "runtime/program/language_model.h"
#include "runtime/worker/json_edge.h"

namespace workbench {

/// "tokens", "positions" (absent: one sequence from 0) and "rows" (absent: all) of a request.
Result<TokenBatch> tokenBatch(const Json& params);

} // namespace workbench
