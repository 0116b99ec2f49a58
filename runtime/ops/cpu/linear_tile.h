// The innermost loop of a product: the sums of `kRows` rows of the input with the 16 rows of one or more
// panels, over a range of columns.
#pragma once

#include "runtime/ops/cpu/linear_lanes.h"

#include <cstdint>
#include <utility>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Where the sums of a tile lie: 16 of each row and panel.
struct Sums {
    float* data;
    int64_t rowStride;   ///< from one row to the next
    int64_t panelStride; ///< from one panel to the next

    float* at(int64_t row, int64_t panel) const { return data + row * rowStride + panel * panelStride; }
};

/// `input` is [kRows][stride] and holds `columns` (a multiple of Lanes<W>::kStep) from the panels' first on;
/// each panel lies `panelStride` bytes behind the one before it. Sums are added to when `more`, else written.
template <typename W>
using Tile = void (*)(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
                      int64_t stride, int64_t columns, const Sums& sums, bool more);

/// Where a tile's rows are read: a pointer for every third one, from which an address reaches two more.
template <typename W, int kRows>
class RowPointers {
public:
    using Operand = typename Lanes<W>::Operand;

    RowPointers(const Operand* first, int64_t stride) : m_stride(stride) {
#pragma GCC unroll 8
        for (int i = 0; i < kThirds; ++i)
            m_thirds[i] = first + 3 * i * stride;
    }
    const Operand* operator[](int row) const {
        return m_thirds[row / 3] + row % 3 * m_stride;
    }
    void advance(int64_t elements) {
#pragma GCC unroll 8
        for (int i = 0; i < kThirds; ++i)
            m_thirds[i] += elements;
    }

private:
    static constexpr int kThirds = (kRows + 2) / 3;
    const Operand* m_thirds[kThirds];
    int64_t m_stride;
};

/// How far ahead weights are asked for: with several rows, what a processor looks ahead has few lines of
/// weights in it. 16 rows of bfloat16 were measured to read 40 instead of 25 GB/s, of 44 that memory gives.
inline constexpr int64_t kPrefetchBytes = 4096;

/// Adds one part of a step's columns with kPanels panels. `at` is where the first one has its weights.
template <typename W, int kPart, int kPanels, int kRows>
inline void addPart(const std::byte* at, int64_t panelStride, const RowPointers<W, kRows>& rows,
                    Sixteen (*chains)[kRows]) {
    using L = Lanes<W>;
    decltype(L::template weights<kPart>(at)) weights[kPanels];
#pragma GCC unroll 4
    for (int panel = 0; panel < kPanels; ++panel)
        weights[panel] = L::template weights<kPart>(at + panel * panelStride);
#pragma GCC unroll 32
    for (int row = 0; row < kRows; ++row) {
        const auto x = L::input(rows[row] + kPart * L::kUnit);
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
            chains[panel][row] = L::accumulate(chains[panel][row], weights[panel], x);
    }
}

/// Adds a step's columns, with all panels at once or one after the other.
template <typename W, int kRows, int kPanels, int... kPart>
inline void step(const std::byte* at, int64_t panelStride, const RowPointers<W, kRows>& rows,
                 Sixteen (&chains)[kPanels][kRows], std::integer_sequence<int, kPart...>) {
    constexpr int kTogether = kSharedInputs ? kPanels : 1;
#pragma GCC unroll 4
    for (int panel = 0; panel < kPanels; panel += kTogether)
        (addPart<W, kPart, kTogether>(at + panel * panelStride, panelStride, rows, chains + panel), ...);
}

/// Sums of groups of columns, each with its scale: all columns of the panels, `columns` of them.
template <typename W, int kRows, int kPanels>
void groupTile(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
               int64_t stride, int64_t columns, const Sums& sums) {
    using L = Lanes<W>;
    RowPointers<W, kRows> rows(input, stride);
    Sixteen totals[kPanels][kRows];
    for (auto& panel : totals)
        for (Sixteen& total : panel)
            total = fill(0);
    for (int64_t group = 0; group < columns / kInt4Group; ++group) {
        Sixteen chains[kPanels][kRows];
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 32
            for (int row = 0; row < kRows; ++row)
                chains[panel][row] = L::start(input + row * stride + columns, group);
        for (int64_t column = group * kInt4Group; column < (group + 1) * kInt4Group; column += L::kStep) {
            step<W>(L::cells(panels, columns, column), panelStride, rows, chains,
                    std::make_integer_sequence<int, L::kParts>());
            rows.advance(L::kStep);
        }
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel) {
            const Sixteen scales = L::scales(panels + panel * panelStride, group);
#pragma GCC unroll 32
            for (int row = 0; row < kRows; ++row)
                totals[panel][row] = multiplyAdd(chains[panel][row], scales, totals[panel][row]);
        }
    }
#pragma GCC unroll 4
    for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 32
        for (int row = 0; row < kRows; ++row)
            store(totals[panel][row], sums.at(row, panel));
}

/// Every sum takes its products one after the other, from the first column on, in every tile: a row's results
/// are the same bits whatever rows are computed beside it. What keeps the multipliers busy, each of which
/// answers after 4 cycles, is the number of sums: a few rows go through several panels at once.
template <typename W, int kRows, int kPanels>
void tile(const std::byte* panels, int64_t panelStride, const typename Lanes<W>::Operand* input,
          int64_t stride, int64_t columns, const Sums& sums, bool more) {
    using L = Lanes<W>;
    if constexpr (L::kFormat == WeightFormat::int4) {
        groupTile<W, kRows, kPanels>(panels, panelStride, input, stride, columns, sums);
    } else {
        Sixteen chains[kPanels][kRows];
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 32
            for (int row = 0; row < kRows; ++row)
                chains[panel][row] = more ? load(sums.at(row, panel)) : fill(0);
        RowPointers<W, kRows> rows(input, stride);
        const std::byte* at = L::at(panels, 0);
        const int64_t stepBytes = L::at(panels, L::kStep) - at;
        for (int64_t column = 0; column < columns; column += L::kStep) {
#pragma GCC unroll 4
            for (int panel = 0; panel < kPanels; ++panel)
                __builtin_prefetch(at + panel * panelStride + kPrefetchBytes);
            step<W>(at, panelStride, rows, chains, std::make_integer_sequence<int, L::kParts>());
            at += stepBytes;
            rows.advance(L::kStep);
        }
#pragma GCC unroll 4
        for (int panel = 0; panel < kPanels; ++panel)
#pragma GCC unroll 32
            for (int row = 0; row < kRows; ++row)
                store(chains[panel][row], sums.at(row, panel));
    }
}

/// Rows that a tile of one panel takes at most.
template <typename W>
inline constexpr int kSingleRows = Lanes<W>::kFormat == WeightFormat::int4 ? kGroupRows : kTileRows;
/// Rows that a tile of two panels takes at most.
template <typename W>
inline constexpr int kPairRows = Lanes<W>::kFormat == WeightFormat::int4 ? kWideGroupRows : kWideRows;

/// Panels that a tile takes at once when the input has `rows` rows. As many rows as fit into one tile read
/// the weights once.
template <typename W>
constexpr int64_t panelsAtOnce(int64_t rows) {
    if (rows == 1 && Lanes<W>::kFormat != WeightFormat::stored)
        return kRowPanels;
    if (rows <= kPairRows<W>)
        return 2;
    return rows <= kSingleRows<W> ? 1 : kBlockPanels;
}

template <typename W, int kPanels, int... kBefore>
constexpr Tile<W> tileFor(int64_t rows, std::integer_sequence<int, kBefore...>) {
    constexpr Tile<W> kTiles[] = {tile<W, kBefore + 1, kPanels>...};
    return kTiles[rows - 1];
}

/// The tile of 1 panel for up to kSingleRows rows, 2 for up to kPairRows, or kRowPanels for one row.
template <typename W>
Tile<W> tileFor(int64_t rows, int64_t panels) {
    if (panels == 1)
        return tileFor<W, 1>(rows, std::make_integer_sequence<int, kSingleRows<W>>());
    if (panels == 2)
        return tileFor<W, 2>(rows, std::make_integer_sequence<int, kPairRows<W>>());
    return tile<W, 1, kRowPanels>;
}

/// Rows of the input cut into tiles whose heights differ by one row at most.
template <typename W>
struct RowTiles {
    int64_t rows;
    int64_t count = (rows + highest() - 1) / highest();

    int64_t begin(int64_t tile) const { return rows * tile / count; }
    int64_t height(int64_t tile) const { return begin(tile + 1) - begin(tile); }
    /// What they have at most.
    int64_t highest() const {
        return rows <= kSingleRows<W> || kBlockPanels == 1 ? kSingleRows<W> : kPairRows<W>;
    }
};

} // namespace workbench::ops::cpu::WORKBENCH_ISA
