#include "runtime/ops/quantised_panel.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
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

template <typename T>
void widenFrom(const void* row, int64_t columns, std::vector<float>& wide) {
    const auto* from = static_cast<const T*>(row);
    std::transform(from, from + columns, wide.begin(), [](T value) { return static_cast<float>(value); });
}

/// Columns from `columns` on are zeros. Exact, but for float64.
void widen(c10::ScalarType dtype, const void* row, int64_t columns, std::vector<float>& wide) {
    std::fill(wide.begin() + columns, wide.end(), 0.0f);
    if (dtype == c10::ScalarType::Float)
        widenFrom<float>(row, columns, wide);
    else if (dtype == c10::ScalarType::BFloat16)
        widenFrom<c10::BFloat16>(row, columns, wide);
    else if (dtype == c10::ScalarType::Half)
        widenFrom<c10::Half>(row, columns, wide);
    else
        widenFrom<double>(row, columns, wide);
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

/// A few columns of all 16 rows, as a panel has them: loops over the rows are vectors.
constexpr int64_t kTileColumns = kInt4Cell;
using Tile = float[kTileColumns][kPanelRows];

void int8Tile(const std::byte* panel, int64_t first, int64_t count, Tile& tile) {
    float scales[kPanelRows];
    std::memcpy(scales, panel, sizeof(scales));
    const auto* from = reinterpret_cast<const int8_t*>(panel + kInt8ScaleBytes) + first * kPanelRows;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t lane = 0; lane < kPanelRows; ++lane)
            tile[i][lane] = scales[lane] * static_cast<float>(from[i * kPanelRows + lane]);
}

/// `first` is a multiple of kInt4Cell. What fills columns up is there, too.
void int4Tile(const std::byte* panel, int64_t groups, int64_t first, Tile& tile) {
    c10::BFloat16 stored[kPanelRows];
    std::memcpy(stored, panel + int4ScaleAt(first / kInt4Group, 0), sizeof(stored));
    float scales[kPanelRows];
    std::copy(std::begin(stored), std::end(stored), scales);
    uint32_t cells[kPanelRows];
    std::memcpy(cells, panel + int4CellAt(groups, first, 0), sizeof(cells));
    for (int64_t i = 0; i < kTileColumns; ++i) {
        const int shift = 4 * int4Place(static_cast<int>(i));
        for (int64_t lane = 0; lane < kPanelRows; ++lane) {
            const auto kept = static_cast<int32_t>((cells[lane] >> shift) & 15);
            tile[i][lane] = scales[lane] * static_cast<float>(kept - 8);
        }
    }
}

/// `rows` rows of `count` columns.
void storeTile(const Tile& tile, int64_t rows, int64_t count, int64_t stride, float* to) {
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < count; ++i)
            to[row * stride + i] = tile[i][row];
}

/// Rounded in pairs, as 32 bits, which are half as many to move.
void storeTile(const Tile& tile, int64_t rows, int64_t count, int64_t stride, c10::BFloat16* to) {
    uint32_t pairs[kTileColumns / 2][kPanelRows];
    const auto rounded = [](float value) { // to nearest even; there is no NaN
        const auto bits = std::bit_cast<uint32_t>(value);
        return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    };
    for (int64_t i = 0; i < kTileColumns / 2; ++i)
        for (int64_t lane = 0; lane < kPanelRows; ++lane)
            pairs[i][lane] = rounded(tile[2 * i][lane]) | rounded(tile[2 * i + 1][lane]) << 16;
    for (int64_t row = 0; row < rows; ++row) {
        c10::BFloat16* from = to + row * stride;
        for (int64_t i = 0; i + 1 < count; i += 2)
            std::memcpy(static_cast<void*>(from + i), &pairs[i / 2][row], sizeof(uint32_t));
        if (count % 2 == 1)
            std::memcpy(static_cast<void*>(from + count - 1), &pairs[count / 2][row], sizeof(c10::BFloat16));
    }
}

template <typename T>
void dequantiseAll(WeightFormat format, const std::byte* panel, int64_t rows, int64_t columns, T* to) {
    const int64_t groups = int4Groups(columns);
    Tile tile{};
    for (int64_t first = 0; first < columns; first += kTileColumns) {
        const int64_t count = std::min(kTileColumns, columns - first);
        if (format == WeightFormat::int8)
            int8Tile(panel, first, count, tile);
        else
            int4Tile(panel, groups, first, tile);
        if (count == kTileColumns)
            storeTile(tile, rows, kTileColumns, columns, to + first);
        else
            storeTile(tile, rows, count, columns, to + first);
    }
}

} // namespace

bool quantisePanel(WeightFormat format, c10::ScalarType source, const void* plain, int64_t rows,
                   int64_t columns, void* panel) {
    const WeightType type(source, format);
    const int64_t rowBytes = columns * static_cast<int64_t>(c10::elementSize(source));
    auto* to = static_cast<std::byte*>(panel);
    std::fill_n(to, panelBytes(type, columns), std::byte{0});
    std::vector<float> wide(static_cast<size_t>(packedColumns(type, columns)));
    for (int64_t row = 0; row < rows; ++row) {
        widen(source, static_cast<const std::byte*>(plain) + row * rowBytes, columns, wide);
        if (!canQuantise(wide))
            return false;
        format == WeightFormat::int8 ? quantiseToInt8(wide, row, to) : quantiseToInt4(wide, row, to);
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

void dequantisePanel(WeightType type, const void* panel, int64_t rows, int64_t columns, void* to) {
    const auto* from = static_cast<const std::byte*>(panel);
    if (type.dtype == c10::ScalarType::Float)
        dequantiseAll(type.format, from, rows, columns, static_cast<float*>(to));
    else
        dequantiseAll(type.format, from, rows, columns, static_cast<c10::BFloat16*>(to));
}

} // namespace workbench::ops
