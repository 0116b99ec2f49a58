// The vocabulary of linear_tile.h for AVX-512. See linear_lanes.h.
#pragma once

#include <c10/util/BFloat16.h>

#include <immintrin.h>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// 24 x 16 sums take 24 of the 32 registers, so that reading 24 inputs and the weights of one panel takes
/// hardly longer than multiplying them.
inline constexpr int kTileRows = 24;
inline constexpr int kWideRows = 12;
inline constexpr int kGroupRows = 12;
inline constexpr int kWideGroupRows = 6;
inline constexpr int kRowPanels = 4;
inline constexpr int kBlockPanels = 2;
inline constexpr bool kSharedInputs = true;
/// The second cache gives two panels and an input as fast as they are multiplied.
inline constexpr int64_t kRangeBytes = 64 << 10;

struct Sixteen {
    __m512 all;
};

inline Sixteen fill(float value) {
    return {_mm512_set1_ps(value)};
}
inline Sixteen load(const float* from) {
    return {_mm512_loadu_ps(from)};
}
inline Sixteen load(const c10::BFloat16* from) {
    const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw), 16))};
}
inline Sixteen load(const int8_t* from) {
    const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(raw))};
}
inline void store(const Sixteen& value, float* to) {
    _mm512_storeu_ps(to, value.all);
}
/// The nearest bfloat16, ties to even; NaN stays one.
inline void store(const Sixteen& value, c10::BFloat16* to) {
    const __m512i bits = _mm512_castps_si512(value.all);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(value.all, value.all, _CMP_UNORD_Q);
    const __m512i result = _mm512_mask_blend_epi32(nan, _mm512_srli_epi32(up, 16), _mm512_set1_epi32(0x7fc0));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(result));
}
inline Sixteen add(const Sixteen& a, const Sixteen& b) {
    return {_mm512_add_ps(a.all, b.all)};
}
inline Sixteen multiply(const Sixteen& a, const Sixteen& b) {
    return {_mm512_mul_ps(a.all, b.all)};
}
inline Sixteen maximum(const Sixteen& a, const Sixteen& b) {
    return {_mm512_max_ps(a.all, b.all)};
}
inline float largest(const Sixteen& value) {
    return _mm512_reduce_max_ps(value.all);
}
inline float total(const Sixteen& value) {
    return _mm512_reduce_add_ps(value.all);
}
/// value times 2 to the power of the integer that is nearest to `exponent`.
inline Sixteen timesPower(const Sixteen& value, const Sixteen& exponent) {
    return {_mm512_scalef_ps(value.all, exponent.all)};
}
inline Sixteen nearest(const Sixteen& value) {
    return {_mm512_roundscale_ps(value.all, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
/// `value` where `at` is at least `least`, else zero.
inline Sixteen keptFrom(const Sixteen& value, const Sixteen& at, float least) {
    return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(at.all, _mm512_set1_ps(least), _CMP_NLT_UQ), value.all)};
}
inline Sixteen subtract(const Sixteen& a, const Sixteen& b) {
    return {_mm512_sub_ps(a.all, b.all)};
}
inline Sixteen multiplyAdd(const Sixteen& a, const Sixteen& b, const Sixteen& sum) {
    return {_mm512_fmadd_ps(a.all, b.all, sum.all)};
}
template <int kPlace>
inline Sixteen nibbles(const std::byte* cells) {
    const __m512i all = _mm512_loadu_si512(cells);
    return {_mm512_cvtepi32_ps(kPlace == 7 ? _mm512_srli_epi32(all, 28)
                                           : _mm512_and_si512(all, _mm512_set1_epi32(15u << (4 * kPlace))))};
}
inline Sixteen firstOfPairs(const c10::BFloat16* pairs) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(pairs), 16))};
}
inline Sixteen secondOfPairs(const c10::BFloat16* pairs) {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
    return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(pairs), upper))};
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
