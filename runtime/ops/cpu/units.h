// Rows of units of 4 bytes turned into columns.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

inline void transposeFour(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride) {
#if defined(__SSE2__)
    const auto row = [&](int64_t at) {
        return _mm_loadu_ps(reinterpret_cast<const float*>(from + at * fromStride));
    };
    __m128 a = row(0), b = row(1), c = row(2), d = row(3);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    const auto put = [&](int64_t at, __m128 x) {
        _mm_storeu_ps(reinterpret_cast<float*>(to + at * toStride), x);
    };
    put(0, a), put(1, b), put(2, c), put(3, d);
#else
    for (int64_t row = 0; row < 4; ++row)
        for (int64_t unit = 0; unit < 4; ++unit)
            std::memcpy(to + unit * toStride + row * 4, from + row * fromStride + unit * 4, 4);
#endif
}

/// to[unit][row] = from[row][unit] for units of 4 bytes of any type. Strides in bytes.
inline void transposeUnits(const void* from, int64_t fromStride, int64_t rows, int64_t units, void* to,
                           int64_t toStride) {
    const auto* source = static_cast<const std::byte*>(from);
    auto* target = static_cast<std::byte*>(to);
    const auto one = [&](int64_t row, int64_t unit) {
        std::memcpy(target + unit * toStride + row * 4, source + row * fromStride + unit * 4, 4);
    };
    const int64_t wholeRows = rows / 4 * 4;
    int64_t unit = 0;
    for (; unit + 4 <= units; unit += 4) {
        int64_t row = 0;
        for (; row < wholeRows; row += 4)
            transposeFour(source + row * fromStride + unit * 4, fromStride,
                          target + unit * toStride + row * 4, toStride);
        for (; row < rows; ++row)
            for (int64_t i = 0; i < 4; ++i)
                one(row, unit + i);
    }
    for (; unit < units; ++unit)
        for (int64_t row = 0; row < rows; ++row)
            one(row, unit);
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
