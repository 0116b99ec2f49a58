#pragma once

#include "runtime/native/decoder_config.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace workbench::native {

/// Cosine and sine by position, of the model's dtype, [positions, head width] each. Computed in float32 and
/// rounded once, as transformers does for every step; here once for every position that occurs.
class RotaryTable {
public:
    RotaryTable(const RotaryConfig& config, std::int64_t headWidth, at::ScalarType dtype);

    /// Copies the rows of `positions` to `cos` and `sin`, [positions.size(), head width] each.
    void gather(std::span<const std::int64_t> positions, void* cos, void* sin);

private:
    void extend(std::int64_t positions);

    at::Tensor m_frequencies; // f32 [head width / 2]
    at::ScalarType m_dtype;
    at::Tensor m_cos;
    at::Tensor m_sin;
};

/// f32 [width / 2]: radians per position.
at::Tensor rotaryFrequencies(const RotaryConfig& config, std::int64_t width);

} // namespace workbench::native
