#include "runtime/ops/quantised_panel.h"

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace workbench::ops {
namespace {

template <typename T>
T loadAt(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

/// Columns from `columns` on are zeros.
void widen(c10::ScalarType dtype, const void* row, int64_t columns, std::vector<float>& wide) {
    std::fill(wide.begin() + columns, wide.end(), 0.0f);
    if (dtype == c10::ScalarType::Float) {
        std::memcpy(wide.data(), row, static_cast<size_t>(columns) * sizeof(float));
        return;
    }
    const auto* from = static_cast<const c10::BFloat16*>(row);
    for (int64_t i = 0; i < columns; ++i)
        wide[static_cast<size_t>(i)] = static_cast<float>(from[i]);
}

bool canQuantise(const std::vector<float>& row) {
    bool fits = true;
    for (const float value : row)
        fits &= std::abs(value) <= kLargestQuantised; // false for NaN
    return fits;
}

float largestOf(const std::vector<float>& row) {
    float largest = 0;
    for (const float value : row)
        largest = std::max(largest, std::abs(value));
    return largest;
}

/// value / scale, rounded to nearest even and kept within the range: a scale so small that it is rounded
/// itself may lead out of it.
int quotient(float value, float scale, float least, float most) {
    // Adding 1.5 * 2^23 leaves no bits for fractions; loops of it need no instruction for rounding.
    constexpr float kNoFractions = 12582912.0f;
    return static_cast<int>(std::clamp(value / scale, least, most) + kNoFractions - kNoFractions);
}

void quantiseToInt8(const std::vector<float>& row, int64_t lane, std::byte* panel) {
    const float scale = largestOf(row) / 127;
    std::memcpy(panel + lane * static_cast<int64_t>(sizeof(float)), &scale, sizeof(scale));
    auto* to = reinterpret_cast<int8_t*>(panel + kInt8ScaleBytes) + lane;
    for (size_t i = 0; i < row.size(); ++i)
        to[i * kPanelRows] = static_cast<int8_t>(scale == 0 ? 0 : quotient(row[i], scale, -127, 127));
}

template <typename T>
void dequantiseFromInt8(const std::byte* panel, int64_t lane, int64_t columns, T* to) {
    const auto scale = loadAt<float>(panel + lane * static_cast<int64_t>(sizeof(float)));
    const auto* from = reinterpret_cast<const int8_t*>(panel + kInt8ScaleBytes) + lane;
    for (int64_t i = 0; i < columns; ++i)
        to[i] = static_cast<T>(scale * static_cast<float>(from[i * kPanelRows]));
}

/// The value of largest magnitude, the first of several.
float extremeOf(const float* values, int64_t count) {
    float extreme = 0;
    for (int64_t i = 0; i < count; ++i)
        extreme = std::abs(values[i]) > std::abs(extreme) ? values[i] : extreme;
    return extreme;
}

/// Where the scale of a group lies in a panel, in bytes.
int64_t int4ScaleAt(int64_t group, int64_t lane) {
    return group * kInt4ScaleBytes + lane * static_cast<int64_t>(sizeof(c10::BFloat16));
}

/// Where the cell of a column lies in a panel of so many groups, in bytes.
int64_t int4CellAt(int64_t groups, int64_t column, int64_t lane) {
    return groups * kInt4ScaleBytes + column / kInt4Cell * kInt4CellBytes +
           lane * static_cast<int64_t>(sizeof(uint32_t));
}

void quantiseToInt4(const std::vector<float>& row, int64_t lane, std::byte* panel) {
    const int64_t groups = int4Groups(static_cast<int64_t>(row.size()));
    for (int64_t group = 0; group < groups; ++group) {
        const float* values = row.data() + group * kInt4Group;
        const c10::BFloat16 rounded = extremeOf(values, kInt4Group) / -8;
        const float scale = rounded;
        std::memcpy(panel + int4ScaleAt(group, lane), &rounded, sizeof(rounded));
        for (int64_t first = 0; first < kInt4Group; first += kInt4Cell) {
            uint32_t cell = 0;
            for (int i = 0; i < kInt4Cell; ++i) {
                const int q = scale == 0 ? 0 : quotient(values[first + i], scale, -8, 7);
                cell |= static_cast<uint32_t>(q + 8) << (4 * int4Place(i));
            }
            std::memcpy(panel + int4CellAt(groups, group * kInt4Group + first, lane), &cell, sizeof(cell));
        }
    }
}

template <typename T>
void dequantiseFromInt4(const std::byte* panel, int64_t lane, int64_t columns, T* to) {
    const int64_t groups = int4Groups(columns);
    for (int64_t i = 0; i < columns; ++i) {
        const auto cell = loadAt<uint32_t>(panel + int4CellAt(groups, i, lane));
        const uint32_t kept = (cell >> (4 * int4Place(static_cast<int>(i % kInt4Cell)))) & 15;
        const float scale = loadAt<c10::BFloat16>(panel + int4ScaleAt(i / kInt4Group, lane));
        to[i] = static_cast<T>(scale * static_cast<float>(static_cast<int>(kept) - 8));
    }
}

template <typename T>
void dequantise(WeightFormat format, const std::byte* panel, int64_t lane, int64_t columns, T* to) {
    if (format == WeightFormat::int8)
        dequantiseFromInt8(panel, lane, columns, to);
    else
        dequantiseFromInt4(panel, lane, columns, to);
}

} // namespace

bool quantisePanel(WeightType type, const void* plain, int64_t rows, int64_t columns, void* panel) {
    const int64_t rowBytes = columns * static_cast<int64_t>(c10::elementSize(type.dtype));
    auto* to = static_cast<std::byte*>(panel);
    std::memset(to, 0, static_cast<size_t>(panelBytes(type, columns)));
    std::vector<float> wide(static_cast<size_t>(packedColumns(type, columns)));
    for (int64_t row = 0; row < rows; ++row) {
        widen(type.dtype, static_cast<const std::byte*>(plain) + row * rowBytes, columns, wide);
        if (!canQuantise(wide))
            return false;
        type.format == WeightFormat::int8 ? quantiseToInt8(wide, row, to) : quantiseToInt4(wide, row, to);
    }
    return true;
}

void dequantiseRow(WeightType type, const void* panel, int64_t row, int64_t columns, void* to) {
    const auto* from = static_cast<const std::byte*>(panel);
    if (type.dtype == c10::ScalarType::Float)
        dequantise(type.format, from, row, columns, static_cast<float*>(to));
    else
        dequantise(type.format, from, row, columns, static_cast<c10::BFloat16*>(to));
}

} // namespace workbench::ops
