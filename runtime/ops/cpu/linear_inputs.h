// The input of a product as its tiles read it: the units of each tile's rows side by side, so that a tile
// reads one stream whatever the rows' length is (rows that lie a power of two apart share few lines of the
// first cache), wider where products are of float32, filled up or gathered.
#pragma once

#include "runtime/ops/cpu/linear_tile.h"
#include "runtime/ops/cpu/units.h"
#include "runtime/ops/kernels.h"
#include "runtime/ops/thread_pool.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Memory of a thread that the next call for the same Use uses again.
template <typename Operand, typename Use>
Operand* scratch(int64_t elements) {
    thread_local std::unique_ptr<Operand[]> memory;
    thread_local int64_t size = 0;
    if (size < elements) {
        memory.reset(new Operand[static_cast<size_t>(elements)]);
        size = elements;
    }
    return memory.get();
}

/// A tile that begins at row r holds [units][rows of the tile] units from `data + r * stride` on.
template <typename W>
struct Inputs {
    const typename Lanes<W>::Operand* data;
    int64_t stride;  // elements of a row
    int64_t columns; // what packedColumns() says
};

/// The products of one group: rows [begin, end) of the input.
struct RowGroup {
    int64_t begin, end;
};

/// Elements of a row: with those that groups of columns begin with.
template <typename W>
int64_t inputStride(int64_t columns) {
    using Operand = typename Lanes<W>::Operand;
    if constexpr (Lanes<W>::kFormat == WeightFormat::int4)
        return columns + columns / kInt4Group * static_cast<int64_t>(sizeof(float) / sizeof(Operand));
    return columns;
}

/// Whether rows are read as they are stored.
template <typename W>
bool readsStored(int64_t columns, int64_t filled) {
    return std::is_same_v<typename Lanes<W>::Value, typename Lanes<W>::Operand> &&
           Lanes<W>::kFormat != WeightFormat::int4 && filled == columns;
}

template <typename W>
void convertRow(const typename Lanes<W>::Value* from, int64_t columns, typename Lanes<W>::Operand* to,
                int64_t filled) {
    using Operand = typename Lanes<W>::Operand;
    int64_t column = 0;
    if constexpr (std::is_same_v<typename Lanes<W>::Value, Operand>) {
        column = std::copy_n(from, columns, to) - to;
    } else {
        for (; column + 16 <= columns; column += 16)
            store(load(from + column), to + column);
    }
    for (; column < filled; ++column)
        to[column] = column < columns ? static_cast<Operand>(from[column]) : Operand(0);
    if constexpr (Lanes<W>::kFormat == WeightFormat::int4)
        Lanes<W>::foldRow(to, filled);
}

/// Rows [first, first + rows) become a tile.
template <typename W>
void makeTile(const typename Lanes<W>::Value* input, const int64_t* places, int64_t first, int64_t rows,
              int64_t columns, int64_t filled, typename Lanes<W>::Operand* to) {
    using Operand = typename Lanes<W>::Operand;
    const int64_t stride = inputStride<W>(filled);
    const int64_t units = stride / Lanes<W>::kUnit;
    const auto from = [&](int64_t row) {
        return input + (places != nullptr ? places[first + row] : first + row) * columns;
    };
    if (readsStored<W>(columns, filled))
        return transposeUnits(from, rows, units, to, rows * 4);
    if (rows == 1)
        return convertRow<W>(from(0), columns, to, filled);
    struct OfTile;
    Operand* wide = scratch<Operand, OfTile>(rows * stride);
    for (int64_t row = 0; row < rows; ++row)
        convertRow<W>(from(row), columns, wide + row * stride, filled);
    transposeUnits([&](int64_t row) { return wide + row * stride; }, rows, units, to, rows * 4);
}

/// The tiles of each group. Row r of the input is row places[r] of `data` (null: row r).
template <typename W>
Inputs<W> inputsFor(const void* data, const int64_t* places, int64_t columns,
                    const std::vector<RowGroup>& groups) {
    using Value = typename Lanes<W>::Value;
    using Operand = typename Lanes<W>::Operand;
    const auto* input = static_cast<const Value*>(data);
    const int64_t filled =
        packedColumns({c10::CppTypeToScalarType<Value>::value, Lanes<W>::kFormat}, columns);
    const int64_t rows = groups.empty() ? 0 : groups.back().end;
    if constexpr (std::is_same_v<Value, Operand>)
        if (rows == 1 && places == nullptr && readsStored<W>(columns, filled))
            return {input, filled, filled};
    thread_local std::vector<RowGroup> tiles;
    tiles.clear();
    for (const RowGroup& group : groups) {
        const RowTiles<W> cut{group.end - group.begin};
        for (int64_t tile = 0; tile < cut.count; ++tile)
            tiles.push_back({group.begin + cut.begin(tile), group.begin + cut.begin(tile + 1)});
    }
    const int64_t stride = inputStride<W>(filled);
    struct OfCall;
    Operand* made = scratch<Operand, OfCall>(rows * stride);
    const int64_t tileElements = std::min<int64_t>(rows, kTall<W>) * stride;
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, tileElements));
    parallelFor(static_cast<int64_t>(tiles.size()), grain, [&, &tiles = tiles](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const RowGroup& tile = tiles[static_cast<size_t>(i)];
            makeTile<W>(input, places, tile.begin, tile.end - tile.begin, columns, filled,
                        made + tile.begin * stride);
        }
    });
    return {made, stride, filled};
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
