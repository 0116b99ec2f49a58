// The innermost loop of a product: the sums of `kRows` rows of the input with the 16 rows of one or more
// panels, over a range of columns.
#pragma once

#include "runtime/ops/cpu/linear_lanes.h"

#include <cstdint>
#include <utility>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// `input` is [kRows][stride] and holds `columns` (a multiple of Lanes<W>::kStep) from the panels' first on;
/// each panel lies `panelStride` bytes behind the one before it. `sums` is [kPanels][kRows][16]: added to
/// when `more`, else written.
template <typename W>
using Tile = void (*)(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
                      int64_t stride, int64_t columns, float* sums, bool more);

template <typename W, int kRows, int... kPart>
inline void step(const std::byte* at, const typename Lanes<W>::Operand* input, int64_t stride, Sixteen* sums,
                 std::integer_sequence<int, kPart...>) {
    using L = Lanes<W>;
    const auto part = [&](const auto& weights, auto readInput) {
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row)
            sums[row] = L::accumulate(sums[row], weights, readInput(input + row * stride));
    };
    (part(L::template weights<kPart>(at), [](const auto* x) { return L::template input<kPart>(x); }), ...);
}

template <typename W, int kRows, int kPanels, int... kPart>
inline void cellStep(const std::byte* cells, int64_t panelStride, const typename Lanes<W>::Operand* input,
                     int64_t stride, Sixteen (&chains)[kPanels][kRows],
                     std::integer_sequence<int, kPart...>) {
    using L = Lanes<W>;
    const auto part = [&]<int kOne>(std::integral_constant<int, kOne>) {
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel) {
            const auto weights = L::template weights<kOne>(cells + panel * panelStride);
#pragma GCC unroll 16
            for (int row = 0; row < kRows; ++row)
                chains[panel][row] =
                    L::accumulate(chains[panel][row], weights, L::template input<kOne>(input + row * stride));
        }
    };
    (part(std::integral_constant<int, kPart>()), ...);
}

/// Sums of groups of columns, each with its scale: all columns of the panels, `columns` of them.
template <typename W, int kRows, int kPanels>
void groupTile(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
               int64_t stride, int64_t columns, float* sums) {
    using L = Lanes<W>;
    Sixteen totals[kPanels][kRows];
    for (auto& panel : totals)
        for (Sixteen& total : panel)
            total = fill(0);
    for (int64_t group = 0; group < columns / kInt4Group; ++group) {
        Sixteen chains[kPanels][kRows];
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
            for (int row = 0; row < kRows; ++row)
                chains[panel][row] = L::start(input + row * stride + columns, group);
        for (int64_t column = group * kInt4Group; column < (group + 1) * kInt4Group; column += L::kStep)
            cellStep<W>(L::cells(panels, columns, column), panelStride, input + column, stride, chains,
                        std::make_integer_sequence<int, L::kParts>());
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel) {
            const Sixteen scales = L::scales(panels + panel * panelStride, group);
#pragma GCC unroll 16
            for (int row = 0; row < kRows; ++row)
                totals[panel][row] = multiplyAdd(chains[panel][row], scales, totals[panel][row]);
        }
    }
#pragma GCC unroll 4
    for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row)
            store(totals[panel][row], sums + (panel * kRows + row) * 16);
}

/// Every sum takes its products one after the other, from the first column on, in every tile: a row's results
/// are the same bits whatever rows are computed beside it. What keeps the multipliers busy, each of which
/// answers after 4 cycles, is the number of sums: a few rows go through several panels at once.
template <typename W, int kRows, int kPanels>
void tile(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
          int64_t stride, int64_t columns, float* sums, bool more) {
    using L = Lanes<W>;
    if constexpr (L::kFormat == WeightFormat::int4) {
        groupTile<W, kRows, kPanels>(panels, panelStride, input, stride, columns, sums);
    } else {
        Sixteen chains[kPanels][kRows];
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
            for (int row = 0; row < kRows; ++row)
                chains[panel][row] = more ? load(sums + (panel * kRows + row) * 16) : fill(0);
        for (int64_t column = 0; column < columns; column += L::kStep)
#pragma GCC unroll 4
            for (int panel = 0; panel < kPanels; ++panel)
                step<W, kRows>(L::at(panels + panel * panelStride, column), input + column, stride,
                               chains[panel], std::make_integer_sequence<int, L::kParts>());
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
            for (int row = 0; row < kRows; ++row)
                store(chains[panel][row], sums + (panel * kRows + row) * 16);
    }
}

template <typename W, int kPanels, int... kBefore>
constexpr Tile<W> tileFor(int rows, std::integer_sequence<int, kBefore...>) {
    constexpr Tile<W> kTiles[] = {tile<W, kBefore + 1, kPanels>...};
    return kTiles[rows - 1];
}

/// The tile for 1 to kTileRows rows of one panel.
template <typename W>
Tile<W> tallTile(int64_t rows) {
    return tileFor<W, 1>(static_cast<int>(rows), std::make_integer_sequence<int, kTileRows>());
}

/// The tile for 1 to kWideRows rows of two panels.
template <typename W>
Tile<W> wideTile(int64_t rows) {
    return tileFor<W, 2>(static_cast<int>(rows), std::make_integer_sequence<int, kWideRows>());
}

/// Panels that so few rows take at once.
template <typename W>
constexpr int64_t panelsAtOnce(int64_t rows) {
    if (rows == 1 && Lanes<W>::kFormat != WeightFormat::stored)
        return kRowPanels;
    return rows <= kWideRows ? 2 : 1;
}

/// The tile for as many panels as panelsAtOnce() says, or two.
template <typename W>
Tile<W> wideTile(int64_t rows, int64_t panels) {
    return panels == 2 ? wideTile<W>(rows) : Tile<W>(tile<W, 1, kRowPanels>);
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
