// Lanes for inputs of bfloat16 with the dot product of pairs: both products of a pair are added to a float32
// sum without rounding between them (denormal results count as zero). Attention
// rounds its probabilities with the instruction for it. Included by linear_lanes.h.
#pragma once

namespace workbench::ops::cpu::WORKBENCH_ISA {

struct Pairs {
    __m512bh all;
};

/// Numbers as the instruction rounds them (what is below 2^-126 becomes zero), 16 at a time.
inline void roundQuickly(const float* from, int64_t count, c10::BFloat16* to) {
    for (int64_t i = 0; i < count; i += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i))));
}
/// to = from - to, rounded likewise.
inline void restQuickly(const float* from, int64_t count, c10::BFloat16* to) {
    for (int64_t i = 0; i < count; i += 16) {
        const __m512 rest = _mm512_sub_ps(_mm512_loadu_ps(from + i), load(to + i).all);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(rest)));
    }
}

struct PairLanes {
    using Operand = c10::BFloat16;
    static constexpr int kUnit = 2;
    static constexpr int kStep = 2;
    static constexpr int kParts = 1;
    static Pairs input(const c10::BFloat16* x) {
        int pair;
        std::memcpy(&pair, x, sizeof(pair));
        return {reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair))};
    }
    static Sixteen accumulate(const Sixteen& sum, const Pairs& weights, const Pairs& input) {
        return {_mm512_dpbf16_ps(sum.all, weights.all, input.all)};
    }
};

template <>
struct Lanes<c10::BFloat16> : PairLanes, StoredPanel<c10::BFloat16> {
    template <int kPart>
    static Pairs weights(const std::byte* at) {
        return {reinterpret_cast<__m512bh>(_mm512_loadu_si512(at))};
    }
};

template <>
struct Lanes<Int8<c10::BFloat16>> : PairLanes, Int8Panel<c10::BFloat16> {
    using Wide = c10::BFloat16;
    /// Integers of 8 bits are bfloat16 numbers: the upper halves of those that they are in float32.
    template <int kPart>
    static Pairs weights(const std::byte* at) {
        const __m512i first = _mm512_castps_si512(integers(at).all);
        const __m512i second = _mm512_castps_si512(integers(at + kPanelRows).all);
        return {reinterpret_cast<__m512bh>(
            _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(first, 16), second))};
    }
    static void widen(const std::byte* at, std::byte* wide) {
        _mm512_storeu_si512(wide, reinterpret_cast<__m512i>(weights<0>(at).all));
    }
};

template <>
struct Lanes<Int4<c10::BFloat16>> : PairLanes, Int4Panel<c10::BFloat16> {
    static constexpr int kStep = kInt4Cell;
    static constexpr int kParts = kInt4Cell / 2;
    /// The highest bits of the fraction of 16 make it 16 + (q + 8), in both halves of a cell.
    template <int kPart>
    static Pairs weights(const std::byte* cells) {
        const __m512i all = _mm512_loadu_si512(cells);
        const __m512i placed =
            kPart == 0 ? _mm512_slli_epi32(all, 3) : _mm512_srli_epi32(all, kPart == 0 ? 0 : 4 * kPart - 3);
        constexpr int kMaskThenOr = 0xea;
        return {reinterpret_cast<__m512bh>(_mm512_ternarylogic_epi32(
            placed, _mm512_set1_epi32(0x00780078), _mm512_set1_epi32(0x41804180), kMaskThenOr))};
    }
    static void foldRow(c10::BFloat16* row, int64_t columns) { startGroups(row, columns, 24, row + columns); }
};

} // namespace workbench::ops::cpu::WORKBENCH_ISA
