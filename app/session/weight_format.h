#pragma once

#include <array>

/// What products keep their weights in, by the worker's names.

namespace workbench {

inline constexpr const char* kStoredWeights = "stored"; ///< as the checkpoint has them
inline constexpr std::array kWeightFormats = {kStoredWeights, "int8", "int4"};

} // namespace workbench
