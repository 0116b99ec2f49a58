// The input of a product as its tiles read it: itself, or a copy that is wider, filled up or gathered.
#pragma once

#include "runtime/ops/cpu/linear_lanes.h"
#include "runtime/ops/kernels.h"
#include "runtime/ops/thread_pool.h"

#include <algorithm>
#include <memory>
#include <type_traits>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// Memory of a thread that the next call uses again.
template <typename Operand>
Operand* scratch(int64_t elements) {
    thread_local std::unique_ptr<Operand[]> memory;
    thread_local int64_t size = 0;
    if (size < elements) {
        memory.reset(new Operand[static_cast<size_t>(elements)]);
        size = elements;
    }
    return memory.get();
}

template <typename W>
struct Inputs {
    const typename Lanes<W>::Operand* data;
    int64_t stride;  // elements from one row to the next
    int64_t columns; // what packedColumns() says
};

/// Elements of a row: with those that groups of columns begin with.
template <typename W>
int64_t inputStride(int64_t columns) {
    using Operand = typename Lanes<W>::Operand;
    if constexpr (Lanes<W>::kFormat == WeightFormat::int4)
        return columns + columns / kInt4Group * static_cast<int64_t>(sizeof(float) / sizeof(Operand));
    return columns;
}

template <typename T, typename Operand>
void convertRow(const T* from, int64_t columns, Operand* to, int64_t filled) {
    int64_t column = 0;
    if constexpr (std::is_same_v<T, Operand>) {
        column = std::copy_n(from, columns, to) - to;
    } else {
        for (; column + 16 <= columns; column += 16)
            store(load(from + column), to + column);
    }
    for (; column < filled; ++column)
        to[column] = column < columns ? static_cast<Operand>(from[column]) : Operand(0);
}

/// `rows` rows of `columns`, of which row r is row places[r] of `data` (null: row r).
template <typename W>
Inputs<W> inputsFor(const void* data, const int64_t* places, int64_t rows, int64_t columns) {
    using Value = typename Lanes<W>::Value;
    using Operand = typename Lanes<W>::Operand;
    const auto* input = static_cast<const Value*>(data);
    constexpr WeightFormat kFormat = Lanes<W>::kFormat;
    const int64_t filled = packedColumns({c10::CppTypeToScalarType<Value>::value, kFormat}, columns);
    if constexpr (std::is_same_v<Value, Operand> && kFormat != WeightFormat::int4)
        if (filled == columns && places == nullptr)
            return {input, filled, filled};
    const int64_t stride = inputStride<W>(filled);
    Operand* copy = scratch<Operand>(rows * stride);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, stride));
    parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            Operand* to = copy + row * stride;
            convertRow(input + (places ? places[row] : row) * columns, columns, to, filled);
            if constexpr (kFormat == WeightFormat::int4)
                Lanes<W>::foldRow(to, filled);
        }
    });
    return {copy, stride, filled};
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
