// The vocabulary of linear_tile.h in plain C++, for any processor. See linear_lanes.h.
#pragma once

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace workbench::ops::cpu::WORKBENCH_ISA {

/// 3 x 16 sums fill 12 of the 16 registers of 4 that every x86-64 has.
inline constexpr int kTileRows = 3;
inline constexpr int kWideRows = 1;
inline constexpr int kGroupRows = 3;
inline constexpr int kWideGroupRows = 1;
inline constexpr int kRowPanels = 2;
inline constexpr int kBlockPanels = 1;
inline constexpr bool kSharedInputs = false;
inline constexpr int64_t kRangeBytes = 16 << 10;

struct Sixteen {
    float at[16];
};

inline Sixteen fill(float value) {
    Sixteen result;
    for (float& x : result.at)
        x = value;
    return result;
}
inline Sixteen load(const float* from) {
    Sixteen result;
    std::memcpy(result.at, from, sizeof(result.at));
    return result;
}
inline Sixteen load(const c10::BFloat16* from) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = static_cast<float>(from[i]);
    return result;
}
inline Sixteen load(const int8_t* from) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = static_cast<float>(from[i]);
    return result;
}
inline void store(const Sixteen& value, float* to) {
    std::memcpy(to, value.at, sizeof(value.at));
}
inline void store(const Sixteen& value, c10::BFloat16* to) {
    for (int i = 0; i < 16; ++i)
        to[i] = static_cast<c10::BFloat16>(value.at[i]);
}
inline Sixteen add(const Sixteen& a, const Sixteen& b) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = a.at[i] + b.at[i];
    return result;
}
inline Sixteen multiply(const Sixteen& a, const Sixteen& b) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = a.at[i] * b.at[i];
    return result;
}
inline Sixteen maximum(const Sixteen& a, const Sixteen& b) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i];
    return result;
}
inline float largest(const Sixteen& value) {
    return *std::max_element(value.at, value.at + 16);
}
inline float total(const Sixteen& value) {
    return std::accumulate(value.at, value.at + 16, 0.0F);
}
/// value times 2 to the power of the integer that is nearest to `exponent`.
inline Sixteen timesPower(const Sixteen& value, const Sixteen& exponent) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = !std::isfinite(exponent.at[i])
                           ? exponent.at[i]
                           : std::ldexp(value.at[i], static_cast<int>(exponent.at[i]));
    return result;
}
inline Sixteen nearest(const Sixteen& value) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = std::nearbyint(value.at[i]);
    return result;
}
/// `value` where `at` is at least `least`, else zero.
inline Sixteen keptFrom(const Sixteen& value, const Sixteen& at, float least) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = at.at[i] < least ? 0 : value.at[i];
    return result;
}
inline Sixteen subtract(const Sixteen& a, const Sixteen& b) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = a.at[i] - b.at[i];
    return result;
}
inline Sixteen multiplyAdd(const Sixteen& a, const Sixteen& b, const Sixteen& sum) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = a.at[i] * b.at[i] + sum.at[i];
    return result;
}
template <int kPlace>
inline Sixteen nibbles(const std::byte* cells) {
    uint32_t all[16];
    std::memcpy(all, cells, sizeof(all));
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] =
            static_cast<float>(static_cast<int>(kPlace == 7 ? all[i] >> 28 : all[i] & (15u << (4 * kPlace))));
    return result;
}
inline Sixteen firstOfPairs(const c10::BFloat16* pairs) {
    Sixteen result;
    for (int i = 0; i < 16; ++i)
        result.at[i] = static_cast<float>(pairs[2 * i]);
    return result;
}
inline Sixteen secondOfPairs(const c10::BFloat16* pairs) {
    return firstOfPairs(pairs + 1);
}

} // namespace workbench::ops::cpu::WORKBENCH_ISA
