// Lanes<c10::BFloat16> with the dot product of pairs: both products of a pair are added to a float32 sum
// without rounding between them (denormal results count as zero). Included by linear_lanes.h.
#pragma once

namespace workbench::ops::cpu::WORKBENCH_ISA {

struct Pairs {
    __m512bh all;
};

template <>
struct Lanes<c10::BFloat16> {
    using Operand = c10::BFloat16;
    static constexpr int kStep = 2;
    static constexpr int kParts = 1;
    template <int kPart>
    static Pairs weights(const c10::BFloat16* panel) {
        return {reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel))};
    }
    template <int kPart>
    static Pairs input(const c10::BFloat16* x) {
        int pair;
        __builtin_memcpy(&pair, x, sizeof(pair));
        return {reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair))};
    }
    static Sixteen accumulate(const Sixteen& sum, const Pairs& weights, const Pairs& input) {
        return {_mm512_dpbf16_ps(sum.all, weights.all, input.all)};
    }
};

} // namespace workbench::ops::cpu::WORKBENCH_ISA
