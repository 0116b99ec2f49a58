#pragma once

#include <cstddef>
#include <span>

namespace workbench {

/// Logits that are looked at together.
constexpr std::size_t kBlockLogits = 128;

/// The exponent of the smallest normal number.
constexpr float kLeastPower = -126;

/// The sum of 2^(scale * (logit - largest)) over kBlockLogits `logits`, none above `largest`, `scale` > 0.
/// Summands below 2^least, `least` from kLeastPower to 0, count as 0; the relative error of all others is
/// below 1e-6.
using SumWeights = float (*)(const float* logits, float largest, float scale, float least);

/// The versions that this processor can run, from the narrowest vectors to the widest.
std::span<const SumWeights> sumWeights();

} // namespace workbench
