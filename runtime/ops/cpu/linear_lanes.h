// What a tile of a product is made of, for the instruction set that is compiled: `Sixteen` float32 values,
// one for each row of a panel, and how weights and inputs become them. W names the weights: float and
// c10::BFloat16 as stored, Int8<T> and Int4<T> for inputs of T.
//
//   Lanes<W>::Value          what inputs and outputs of the product are
//   Lanes<W>::Operand        what inputs are kept in
//   Lanes<W>::kUnit          operands of a unit: 4 bytes, what one part of the weights is multiplied with
//   Lanes<W>::kFormat        of the weights
//   Lanes<W>::kStep          columns that one step takes
//   Lanes<W>::kParts         parts that a step's weights are read in, so that only one takes registers
//   Lanes<W>::at             where a panel has its weights for a column
//   Lanes<W>::weights<p>     part p of a step's weights
//   Lanes<W>::input          a unit of the input, for all lanes; a step has one for each part
//   Lanes<W>::accumulate     sum + weights * input
//   Lanes<W>::Wide           weights as stored that give the same sums, once they are widened (Int8)
//   Lanes<W>::foldRow        makes a row of inputs what the parts of cells are multiplied with, and writes
//                            the sums that groups of columns begin with behind it (Int4)
//
// linear_lanes_*.h define Sixteen and
//
//   kTileRows, kWideRows     rows of the input that a tile of one panel and one of two take at most
//   kGroupRows,              the same where groups of columns have sums of their own (Int4)
//   kWideGroupRows
//   kRowPanels               panels that one row takes at once when their weights must be widened first
//   kBlockPanels             panels that more rows than a tile's take at once
//   kSharedInputs            whether registers suffice to read an input once for all panels of a tile
//   kRangeBytes              of a panel's weights as stored that stay in a cache while tiles pass by
//
// and fill, load, store (bfloat16 rounds to nearest even), arithmetic, reductions, what an exponential takes
// (nearest, timesPower, keptFrom), the two halves of 16 pairs of bfloat16, and 4 bits at one place of 16
// cells (times 16^place, but for the last place).
#pragma once

#include "runtime/ops/quantised_panel.h"

#include <cstring>

#ifndef WORKBENCH_ISA
#error "kernel sources are compiled with WORKBENCH_ISA set to the name of an instruction set"
#endif

#if defined(__AVX512F__)
#include "runtime/ops/cpu/linear_lanes_avx512.h"
#elif defined(__AVX2__)
#include "runtime/ops/cpu/linear_lanes_avx2.h"
#else
#include "runtime/ops/cpu/linear_lanes_baseline.h"
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

template <typename W>
struct Lanes;

/// Quantised weights for inputs of T.
template <typename T>
struct Int8;
template <typename T>
struct Int4;

/// Inputs widened to float32, products added one after the other.
struct FloatLanes {
    using Operand = float;
    static constexpr int kUnit = 1;
    static Sixteen input(const float* x) { return fill(*x); }
    static Sixteen accumulate(const Sixteen& sum, const Sixteen& weights, const Sixteen& input) {
        return multiplyAdd(weights, input, sum);
    }
};

/// Panels of weights as stored: [columns][16] of T, whether in pairs or not.
template <typename T>
struct StoredPanel {
    using Value = T;
    static constexpr WeightFormat kFormat = WeightFormat::stored;
    static const std::byte* at(const std::byte* panel, int64_t column) {
        return panel + column * kPanelRows * static_cast<int64_t>(sizeof(T));
    }
};

/// Integers of 8 bits: sums of q * input are scaled at their end.
template <typename T>
struct Int8Panel {
    using Value = T;
    static constexpr WeightFormat kFormat = WeightFormat::int8;
    static const std::byte* at(const std::byte* panel, int64_t column) {
        return panel + kInt8ScaleBytes + column * kPanelRows;
    }
    static Sixteen integers(const std::byte* at) { return load(reinterpret_cast<const int8_t*>(at)); }
};

/// Integers of 4 bits, kept as q + 8. A group's sum of (q + 8) * input begins with -8 times the sum of its
/// inputs, and is scaled at its end. An infinite input gives NaN, as it does with any weight of zero, and so
/// does one above about FLT_MAX / 256, where these sums overflow (8 * 32 inputs; 24 * 32 of bfloat16 pairs).
template <typename T>
struct Int4Panel {
    using Value = T;
    static constexpr WeightFormat kFormat = WeightFormat::int4;
    static Sixteen scales(const std::byte* panel, int64_t group) {
        return load(reinterpret_cast<const c10::BFloat16*>(panel + group * kInt4ScaleBytes));
    }
    /// `columns`: of the panel.
    static const std::byte* cells(const std::byte* panel, int64_t columns, int64_t column) {
        return panel + columns / kInt4Group * kInt4ScaleBytes + column / kInt4Cell * kInt4CellBytes;
    }
    static Sixteen start(const void* starts, int64_t group) {
        float value;
        std::memcpy(&value, static_cast<const std::byte*>(starts) + group * 4, sizeof(value));
        return fill(value);
    }
};

/// Minus `factor` times the sum of each group's inputs.
template <typename Operand>
inline void startGroups(const Operand* row, int64_t columns, float factor, void* starts) {
    for (int64_t group = 0; group < columns / kInt4Group; ++group) {
        float sums[kInt4Cell] = {};
        for (int64_t first = 0; first < kInt4Group; first += kInt4Cell)
            for (int64_t i = 0; i < kInt4Cell; ++i)
                sums[i] += static_cast<float>(row[group * kInt4Group + first + i]);
        float sum = 0;
        for (const float part : sums)
            sum += part;
        sum *= -factor;
        std::memcpy(static_cast<std::byte*>(starts) + group * 4, &sum, sizeof(sum));
    }
}

template <>
struct Lanes<float> : FloatLanes, StoredPanel<float> {
    static constexpr int kStep = 1;
    static constexpr int kParts = 1;
    template <int kPart>
    static Sixteen weights(const std::byte* at) {
        return load(reinterpret_cast<const float*>(at));
    }
};

template <typename T>
struct Lanes<Int8<T>> : FloatLanes, Int8Panel<T> {
    using Wide = float;
    static constexpr int kStep = 1;
    static constexpr int kParts = 1;
    template <int kPart>
    static Sixteen weights(const std::byte* at) {
        return Int8Panel<T>::integers(at);
    }
    static void widen(const std::byte* at, std::byte* wide) {
        store(Int8Panel<T>::integers(at), reinterpret_cast<float*>(wide));
    }
};

/// Bits are masked where they are, and inputs take the power of 16 that this leaves, which is exact but for
/// inputs below 2^-102, which lose bits as denormal numbers (2^-126 * 2^24).
template <typename T>
struct Lanes<Int4<T>> : FloatLanes, Int4Panel<T> {
    static constexpr int kStep = kInt4Cell;
    static constexpr int kParts = kInt4Cell;
    template <int kPart>
    static Sixteen weights(const std::byte* cells) {
        return nibbles<int4Place(kPart)>(cells);
    }
    static void foldRow(float* row, int64_t columns) {
        constexpr float kFactors[kInt4Cell] = {1,       0x1p-16f, 0x1p-4f,  0x1p-20f,
                                               0x1p-8f, 0x1p-24f, 0x1p-12f, 1};
        startGroups(row, columns, 8, row + columns);
        for (int64_t first = 0; first < columns; first += kInt4Cell)
            for (int64_t i = 0; i < kInt4Cell; ++i)
                row[first + i] *= kFactors[i];
    }
};

#if !defined(__AVX512BF16__)
template <>
struct Lanes<c10::BFloat16> : FloatLanes, StoredPanel<c10::BFloat16> {
    static constexpr int kStep = 2;
    static constexpr int kParts = 2;
    template <int kPart>
    static Sixteen weights(const std::byte* at) {
        const auto* pairs = reinterpret_cast<const c10::BFloat16*>(at);
        return kPart == 0 ? firstOfPairs(pairs) : secondOfPairs(pairs);
    }
};
#endif

} // namespace workbench::ops::cpu::WORKBENCH_ISA

#if defined(__AVX512BF16__)
#include "runtime/ops/cpu/linear_lanes_avx512_bf16.h"
#endif
