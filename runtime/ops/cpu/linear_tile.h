// The innermost loop of a product: the sums of `kRows` rows of the input with the 16 rows of one or two
// panels, over a range of columns.
#pragma once

#include "runtime/ops/cpu/linear_lanes.h"

#include <cstdint>
#include <utility>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// `input` is [kRows][stride] and holds `columns` (a multiple of Lanes<T>::kStep) from the panels' first on;
/// the second panel lies `panelStride` elements behind the first. `sums` is [kPanels][kRows][16]: added to
/// when `more`, else written.
template <typename T>
using Tile = void (*)(const T* panels, int64_t panelStride, const typename Lanes<T>::Operand* input,
                      int64_t stride, int64_t columns, float* sums, bool more);

template <typename T, int kRows, int... kPart>
inline void step(const T* panel, const typename Lanes<T>::Operand* input, int64_t stride, Sixteen* sums,
                 std::integer_sequence<int, kPart...>) {
    using L = Lanes<T>;
    const auto part = [&](const auto& weights, auto readInput) {
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row)
            sums[row] = L::accumulate(sums[row], weights, readInput(input + row * stride));
    };
    (part(L::template weights<kPart>(panel), [](const auto* x) { return L::template input<kPart>(x); }), ...);
}

/// Every sum takes its products one after the other, from the first column on, in every tile: a row's results
/// are the same bits whatever rows are computed beside it. What keeps the multipliers busy, each of which
/// answers after 4 cycles, is the number of sums: a few rows go through two panels at once.
template <typename T, int kRows, int kPanels>
void tile(const T* panels, int64_t panelStride, const typename Lanes<T>::Operand* input, int64_t stride,
          int64_t columns, float* sums, bool more) {
    using L = Lanes<T>;
    Sixteen chains[kPanels][kRows];
#pragma GCC unroll 2
    for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row)
            chains[panel][row] = more ? load(sums + (panel * kRows + row) * 16) : fill(0);
    for (int64_t column = 0; column < columns; column += L::kStep)
#pragma GCC unroll 2
        for (int panel = 0; panel < kPanels; ++panel)
            step<T, kRows>(panels + panel * panelStride + column * 16, input + column, stride, chains[panel],
                           std::make_integer_sequence<int, L::kParts>());
#pragma GCC unroll 2
    for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row)
            store(chains[panel][row], sums + (panel * kRows + row) * 16);
}

template <typename T, int kPanels, int... kBefore>
constexpr Tile<T> tileFor(int rows, std::integer_sequence<int, kBefore...>) {
    constexpr Tile<T> kTiles[] = {tile<T, kBefore + 1, kPanels>...};
    return kTiles[rows - 1];
}

/// The tile for 1 to kTileRows rows of one panel.
template <typename T>
Tile<T> tallTile(int64_t rows) {
    return tileFor<T, 1>(static_cast<int>(rows), std::make_integer_sequence<int, kTileRows>());
}

/// The tile for 1 to kWideRows rows of two panels.
template <typename T>
Tile<T> wideTile(int64_t rows) {
    return tileFor<T, 2>(static_cast<int>(rows), std::make_integer_sequence<int, kWideRows>());
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
