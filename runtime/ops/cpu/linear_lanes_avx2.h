// The vocabulary of linear_tile.h for AVX2 and FMA. See linear_lanes.h.
#pragma once

#include <c10/util/BFloat16.h>

#include <immintrin.h>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// 6 x 16 sums fill 12 of the 16 registers; a part of the weights takes two and an input one.
inline constexpr int kTileRows = 6;
inline constexpr int kWideRows = 3;
inline constexpr int kGroupRows = 6;
inline constexpr int kWideGroupRows = 3;
inline constexpr int kRowPanels = 4;
inline constexpr int kBlockPanels = 1;
inline constexpr bool kSharedInputs = false;
inline constexpr int64_t kRangeBytes = 16 << 10;

struct Sixteen {
    __m256 low, high;
};

inline Sixteen fill(float value) {
    const __m256 all = _mm256_set1_ps(value);
    return {all, all};
}
inline Sixteen load(const float* from) {
    return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
inline __m256 widened(const c10::BFloat16* from) {
    const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(raw), 16));
}
inline Sixteen load(const c10::BFloat16* from) {
    return {widened(from), widened(from + 8)};
}
inline __m256 widened(const int8_t* from) {
    const __m128i raw = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(raw));
}
inline Sixteen load(const int8_t* from) {
    return {widened(from), widened(from + 8)};
}
inline void store(const Sixteen& value, float* to) {
    _mm256_storeu_ps(to, value.low);
    _mm256_storeu_ps(to + 8, value.high);
}
/// The nearest bfloat16 (ties to even) in the low half of each lane; NaN stays one.
inline __m256i rounded(__m256 value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), _mm256_set1_epi32(0x7fc0), nan);
}
inline void store(const Sixteen& value, c10::BFloat16* to) {
    const __m256i packed = _mm256_packus_epi32(rounded(value.low), rounded(value.high));
    // packus works within 128-bit halves.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(packed, 0b11011000));
}
inline Sixteen add(const Sixteen& a, const Sixteen& b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Sixteen multiply(const Sixteen& a, const Sixteen& b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Sixteen maximum(const Sixteen& a, const Sixteen& b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
inline float largest(const Sixteen& value) {
    const __m256 eight = _mm256_max_ps(value.low, value.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
inline float total(const Sixteen& value) {
    const __m256 eight = _mm256_add_ps(value.low, value.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline __m256 powerOfTwo(__m256 exponent) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(exponent), _mm256_set1_epi32(127)), 23));
}
/// value times 2 to the power of the integer that is nearest to `exponent`, from -126 to 127.
inline Sixteen timesPower(const Sixteen& value, const Sixteen& exponent) {
    return multiply(value, {powerOfTwo(exponent.low), powerOfTwo(exponent.high)});
}
inline Sixteen nearest(const Sixteen& value) {
    constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(value.low, kMode), _mm256_round_ps(value.high, kMode)};
}
/// `value` where `at` is at least `least`, else zero.
inline Sixteen keptFrom(const Sixteen& value, const Sixteen& at, float least) {
    const __m256 limit = _mm256_set1_ps(least);
    return {_mm256_and_ps(value.low, _mm256_cmp_ps(at.low, limit, _CMP_NLT_UQ)),
            _mm256_and_ps(value.high, _mm256_cmp_ps(at.high, limit, _CMP_NLT_UQ))};
}
inline Sixteen subtract(const Sixteen& a, const Sixteen& b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Sixteen multiplyAdd(const Sixteen& a, const Sixteen& b, const Sixteen& sum) {
    return {_mm256_fmadd_ps(a.low, b.low, sum.low), _mm256_fmadd_ps(a.high, b.high, sum.high)};
}
template <int kPlace>
inline __m256 eightNibbles(const std::byte* cells) {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells));
    return _mm256_cvtepi32_ps(kPlace == 7 ? _mm256_srli_epi32(all, 28)
                                          : _mm256_and_si256(all, _mm256_set1_epi32(15u << (4 * kPlace))));
}
template <int kPlace>
inline Sixteen nibbles(const std::byte* cells) {
    return {eightNibbles<kPlace>(cells), eightNibbles<kPlace>(cells + 32)};
}
inline __m256i eightPairs(const c10::BFloat16* pairs) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs));
}
inline Sixteen firstOfPairs(const c10::BFloat16* pairs) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(eightPairs(pairs), 16)),
            _mm256_castsi256_ps(_mm256_slli_epi32(eightPairs(pairs + 16), 16))};
}
/// Two shifts, as a mask would take the only register that a full tile leaves.
inline Sixteen secondOfPairs(const c10::BFloat16* pairs) {
    const auto upper = [](__m256i x) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_srli_epi32(x, 16), 16));
    };
    return {upper(eightPairs(pairs)), upper(eightPairs(pairs + 16))};
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
