#pragma once

#include "core/graph/scalar_type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace workbench {

float fromBf16(std::uint16_t bits);
float fromF16(std::uint16_t bits); ///< IEEE 754 binary16

/// The numbers that the bytes of a tensor hold, appended to `values`; whole elements only. False for a type
/// that has no such reading here.
bool appendValues(ScalarType type, std::span<const std::byte> bytes, std::vector<double>& values);

} // namespace workbench
