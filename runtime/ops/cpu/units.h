// 16 rows of units of 4 bytes of any type turned into columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef WORKBENCH_ISA
#error "kernel sources are compiled with WORKBENCH_ISA set to the name of an instruction set"
#endif

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

#if defined(__AVX512F__)

/// to[unit][row] = rowAt(row)[unit] for 16 rows. Pairs of rows are brought together, then fours, then lanes
/// of four.
template <typename Row>
void transposeUnits(const Row& rowAt, int64_t units, void* to) {
    for (int64_t unit = 0; unit < units; unit += 16) {
        const int64_t count = std::min<int64_t>(16, units - unit);
        const auto taken = static_cast<__mmask16>((1U << count) - 1);
        __m512 a[16], b[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i)
            a[i] = _mm512_maskz_loadu_ps(taken, reinterpret_cast<const std::byte*>(rowAt(i)) + unit * 4);
#pragma GCC unroll 8
        for (int i = 0; i < 16; i += 2) {
            b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
            b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
        }
        const auto pairs = [](__m512 x) { return _mm512_castps_pd(x); };
#pragma GCC unroll 4
        for (int i = 0; i < 16; i += 4) {
            a[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs(b[i]), pairs(b[i + 2])));
            a[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs(b[i]), pairs(b[i + 2])));
            a[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs(b[i + 1]), pairs(b[i + 3])));
            a[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs(b[i + 1]), pairs(b[i + 3])));
        }
        constexpr int kEven = 0x88, kOdd = 0xdd; // lanes 0 and 2, or 1 and 3, of both
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const __m512 lowEven = _mm512_shuffle_f32x4(a[i], a[i + 4], kEven);
            const __m512 lowOdd = _mm512_shuffle_f32x4(a[i], a[i + 4], kOdd);
            const __m512 highEven = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], kEven);
            const __m512 highOdd = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], kOdd);
            b[i] = _mm512_shuffle_f32x4(lowEven, highEven, kEven);
            b[i + 4] = _mm512_shuffle_f32x4(lowOdd, highOdd, kEven);
            b[i + 8] = _mm512_shuffle_f32x4(lowEven, highEven, kOdd);
            b[i + 12] = _mm512_shuffle_f32x4(lowOdd, highOdd, kOdd);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i)
            if (i < count)
                _mm512_storeu_ps(static_cast<std::byte*>(to) + (unit + i) * 64, b[i]);
    }
}

#else

/// 4 units of 4 rows.
template <typename Row>
void transposeFour(const Row& rowAt, int64_t row, int64_t unit, std::byte* to) {
    const auto from = [&](int64_t i) {
        return reinterpret_cast<const std::byte*>(rowAt(row + i)) + unit * 4;
    };
    const auto target = [&](int64_t i) { return to + (unit + i) * 64 + row * 4; };
#if defined(__SSE2__)
    const auto read = [&](int64_t i) { return _mm_loadu_ps(reinterpret_cast<const float*>(from(i))); };
    const auto write = [&](int64_t i, __m128 x) { _mm_storeu_ps(reinterpret_cast<float*>(target(i)), x); };
    __m128 a = read(0), b = read(1), c = read(2), d = read(3);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    write(0, a);
    write(1, b);
    write(2, c);
    write(3, d);
#else
    for (int64_t i = 0; i < 4; ++i)
        for (int64_t k = 0; k < 4; ++k)
            std::memcpy(target(k) + i * 4, from(i) + k * 4, 4);
#endif
}

/// to[unit][row] = rowAt(row)[unit] for 16 rows.
template <typename Row>
void transposeUnits(const Row& rowAt, int64_t units, void* to) {
    auto* target = static_cast<std::byte*>(to);
    const int64_t whole = units / 4 * 4;
    for (int64_t unit = 0; unit < whole; unit += 4)
        for (int64_t row = 0; row < 16; row += 4)
            transposeFour(rowAt, row, unit, target);
    for (int64_t unit = whole; unit < units; ++unit)
        for (int64_t row = 0; row < 16; ++row)
            std::memcpy(target + unit * 64 + row * 4,
                        reinterpret_cast<const std::byte*>(rowAt(row)) + unit * 4, 4);
}

#endif

} // namespace workbench::ops::cpu::WORKBENCH_ISA
