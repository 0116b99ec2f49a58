#include "runtime/native/rotary_table.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>
#include <numbers>

namespace workbench::native {
namespace {

/// Long waves are stretched by the factor, short ones kept, those between blended (Llama 3.1's
/// "rope_type": "llama3"). Wavelengths in positions; arithmetic in float32 as transformers has it.
float llama3(const RotaryConfig& config, float frequency) {
    const auto original = static_cast<float>(config.originalTokens);
    const auto low = static_cast<float>(config.lowFrequencyFactor);
    const auto high = static_cast<float>(config.highFrequencyFactor);
    const auto factor = static_cast<float>(config.factor);
    const float wavelength = 2 * std::numbers::pi_v<float> / frequency;
    if (wavelength > original / low)
        return frequency / factor;
    if (wavelength < original / high)
        return frequency;
    const float blend = (original / wavelength - low) / (high - low);
    return (1 - blend) * frequency / factor + blend * frequency;
}

} // namespace

at::Tensor rotaryFrequencies(const RotaryConfig& config, std::int64_t width) {
    const at::Tensor exponents =
        at::arange(0, width, 2, at::kLong).to(at::kFloat).div(static_cast<double>(width));
    at::Tensor frequencies = at::pow(at::Scalar(config.theta), exponents).reciprocal();
    if (config.scaling == RotaryConfig::Scaling::linear)
        return frequencies.div(config.factor);
    if (config.scaling == RotaryConfig::Scaling::llama3) {
        auto* values = frequencies.mutable_data_ptr<float>();
        std::transform(values, values + frequencies.numel(), values,
                       [&](float frequency) { return llama3(config, frequency); });
    }
    return frequencies;
}

RotaryTable::RotaryTable(const RotaryConfig& config, std::int64_t headWidth, at::ScalarType dtype)
    : m_frequencies(rotaryFrequencies(config, headWidth)), m_dtype(dtype) {
    extend(1024);
}

void RotaryTable::extend(std::int64_t positions) {
    const at::Tensor angles = at::arange(positions, at::kFloat).unsqueeze(1).mul(m_frequencies);
    const auto wide = [&](const at::Tensor& half) {
        return at::cat({half, half}, 1).to(m_dtype).contiguous();
    };
    m_cos = wide(angles.cos());
    m_sin = wide(angles.sin());
}

void RotaryTable::gather(std::span<const std::int64_t> positions, void* cos, void* sin) {
    const std::int64_t last = *std::max_element(positions.begin(), positions.end());
    if (last >= m_cos.size(0))
        extend(std::max(last + 1, 2 * m_cos.size(0)));
    const auto rowBytes = static_cast<std::size_t>(m_cos.size(1)) * m_cos.element_size();
    const auto copy = [&](const at::Tensor& table, void* to) {
        const auto* from = static_cast<const std::byte*>(table.const_data_ptr());
        for (std::size_t i = 0; i < positions.size(); ++i)
            std::memcpy(static_cast<std::byte*>(to) + i * rowBytes,
                        from + static_cast<std::size_t>(positions[i]) * rowBytes, rowBytes);
    };
    copy(m_cos, cos);
    copy(m_sin, sin);
}

} // namespace workbench::native
