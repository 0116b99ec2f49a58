#pragma once

#include "core/support/result.h"
#include "runtime/program/weight_store.h"
#include "runtime/worker/json_edge.h"

namespace workbench {

/// A request's "weights": {"directory", "archive", "map": {parameter: {"from": [...], "op", "dim", "shape"}},
/// "random": {"seed"}, "format": "stored", "int8" or "int4"}; all optional. In "from" stand {"tensor": name}
/// or entries like the outer one.
Result<WeightSpec> weightSpecFromJson(const Json& json);

} // namespace workbench
