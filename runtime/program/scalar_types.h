#pragma once

#include "core/graph/scalar_type.h"

#include <c10/core/ScalarType.h>

namespace workbench {

at::ScalarType toTorch(ScalarType type);

} // namespace workbench
