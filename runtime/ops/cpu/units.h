// Rows of units of 4 bytes turned into columns.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace workbench::ops::cpu::WORKBENCH_ISA {

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

} // namespace workbench::ops::cpu::WORKBENCH_ISA
