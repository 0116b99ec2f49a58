#pragma once

#include "core/graph/scalar_type.h"

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>

#include <cstdint>

namespace workbench {

at::ScalarType toTorch(ScalarType type);

/// On the calling thread: waking others costs more than the logits of a few tokens.
void widen(const c10::BFloat16* from, std::int64_t elements, float* to);

} // namespace workbench
