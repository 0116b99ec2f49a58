// Rows of units of 4 bytes turned into columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

#if defined(__AVX512F__)

/// At most 16 units of at most 16 rows: pairs, fours, then lanes of four are brought together.
template <typename Row>
void transposeSixteen(const Row& rowAt, int64_t firstRow, int64_t rows, int64_t firstUnit, int64_t units,
                      std::byte* to, int64_t stride) {
    const auto first = [](int64_t count) { return static_cast<__mmask16>((1U << count) - 1); };
    __m512 a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
        a[i] = i < rows ? _mm512_maskz_loadu_ps(first(units),
                                                reinterpret_cast<const std::byte*>(rowAt(firstRow + i)) +
                                                    firstUnit * 4)
                        : _mm512_setzero_ps();
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
        if (i < units)
            _mm512_mask_storeu_ps(to + i * stride, first(rows), b[i]);
}

/// to[unit][row] = row(row)[unit] for units of 4 bytes of any type, `stride` bytes from one unit to the next.
template <typename Row>
void transposeUnits(const Row& rowAt, int64_t rows, int64_t units, void* to, int64_t stride) {
    constexpr int64_t kMost = 16;
    for (int64_t row = 0; row < rows; row += kMost)
        for (int64_t unit = 0; unit < units; unit += kMost)
            transposeSixteen(rowAt, row, std::min(kMost, rows - row), unit, std::min(kMost, units - unit),
                             static_cast<std::byte*>(to) + unit * stride + row * 4, stride);
}

#else

/// 4 units of 4 rows.
template <typename Row>
void transposeFour(const Row& rowAt, int64_t row, int64_t unit, std::byte* to, int64_t stride) {
    const auto from = [&](int64_t i) {
        return reinterpret_cast<const std::byte*>(rowAt(row + i)) + unit * 4;
    };
#if defined(__SSE2__)
    const auto read = [&](int64_t i) { return _mm_loadu_ps(reinterpret_cast<const float*>(from(i))); };
    __m128 a = read(0), b = read(1), c = read(2), d = read(3);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    const auto write = [&](int64_t i, __m128 x) {
        _mm_storeu_ps(reinterpret_cast<float*>(to + i * stride), x);
    };
    write(0, a);
    write(1, b);
    write(2, c);
    write(3, d);
#else
    for (int64_t i = 0; i < 4; ++i)
        for (int64_t k = 0; k < 4; ++k)
            std::memcpy(to + k * stride + i * 4, from(i) + k * 4, 4);
#endif
}

/// to[unit][row] = row(row)[unit] for units of 4 bytes of any type, `stride` bytes from one unit to the next.
template <typename Row>
void transposeUnits(const Row& rowAt, int64_t rows, int64_t units, void* to, int64_t stride) {
    auto* target = static_cast<std::byte*>(to);
    const auto one = [&](int64_t row, int64_t unit) {
        std::memcpy(target + unit * stride + row * 4,
                    reinterpret_cast<const std::byte*>(rowAt(row)) + unit * 4, 4);
    };
    const int64_t wholeRows = rows / 4 * 4;
    int64_t unit = 0;
    for (; unit + 4 <= units; unit += 4) {
        int64_t row = 0;
        for (; row < wholeRows; row += 4)
            transposeFour(rowAt, row, unit, target + unit * stride + row * 4, stride);
        for (; row < rows; ++row)
            for (int64_t i = 0; i < 4; ++i)
                one(row, unit + i);
    }
    for (; unit < units; ++unit)
        for (int64_t row = 0; row < rows; ++row)
            one(row, unit);
}

#endif

} // namespace workbench::ops::cpu::WORKBENCH_ISA
