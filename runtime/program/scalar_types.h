#pragma once

#include "core/graph/scalar_type.h"

#include <c10/core/ScalarType.h>

#include <optional>

namespace workbench {

at::ScalarType toTorch(ScalarType type);
/// Nothing for a type that graphs cannot carry (complex, quantised).
std::optional<ScalarType> fromTorch(at::ScalarType type);

} // namespace workbench
