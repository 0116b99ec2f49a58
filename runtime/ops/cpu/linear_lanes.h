// What a tile of a product is made of, for the instruction set that is compiled: `Sixteen` float32 values,
// one for each row of a panel, and how weights and inputs of T become them.
//
//   Lanes<T>::kStep          columns that one step takes
//   Lanes<T>::kParts         parts that a step's weights are read in, so that only one takes registers
//   Lanes<T>::Operand        what inputs are kept in
//   Lanes<T>::weights<p>     part p of a step's weights
//   Lanes<T>::input<p>       the input that belongs to it, for all lanes
//   Lanes<T>::accumulate     sum + weights * input
//
// linear_lanes_*.h define Sixteen, kTileRows and kWideRows (rows of the input that a tile of one
// panel and one of two take) and: fill, load, store
// (bfloat16 rounds to nearest even), add, multiplyAdd, and the two halves of 16 pairs of bfloat16.
#pragma once

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

template <typename T>
struct Lanes;

template <>
struct Lanes<float> {
    using Operand = float;
    static constexpr int kStep = 1;
    static constexpr int kParts = 1;
    template <int kPart>
    static Sixteen weights(const float* panel) {
        return load(panel);
    }
    template <int kPart>
    static Sixteen input(const float* x) {
        return fill(*x);
    }
    static Sixteen accumulate(const Sixteen& sum, const Sixteen& weights, const Sixteen& input) {
        return multiplyAdd(weights, input, sum);
    }
};

#if !defined(__AVX512BF16__)
template <>
struct Lanes<c10::BFloat16> {
    using Operand = float;
    static constexpr int kStep = 2;
    static constexpr int kParts = 2;
    template <int kPart>
    static Sixteen weights(const c10::BFloat16* panel) {
        return kPart == 0 ? firstOfPairs(panel) : secondOfPairs(panel);
    }
    template <int kPart>
    static Sixteen input(const float* x) {
        return fill(x[kPart]);
    }
    static Sixteen accumulate(const Sixteen& sum, const Sixteen& weights, const Sixteen& input) {
        return multiplyAdd(weights, input, sum);
    }
};
#endif

} // namespace workbench::ops::cpu::WORKBENCH_ISA

#if defined(__AVX512BF16__)
#include "runtime/ops/cpu/linear_lanes_avx512_bf16.h"
#endif
