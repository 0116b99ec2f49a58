#include "app/session/element_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace workbench {
namespace {

template <class Stored, class Convert>
bool append(std::span<const std::byte> bytes, std::vector<double>& values, Convert convert) {
    const std::size_t count = bytes.size() / sizeof(Stored);
    values.reserve(values.size() + count);
    for (std::size_t i = 0; i < count; ++i) {
        Stored stored;
        std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
        values.push_back(static_cast<double>(convert(stored)));
    }
    return true;
}

template <class Stored>
bool appendPlain(std::span<const std::byte> bytes, std::vector<double>& values) {
    return append<Stored>(bytes, values, [](Stored stored) { return stored; });
}

/// OCP 8-bit floating point (Micikevicius et al. 2022, arXiv:2209.05433). E4M3 has no infinity and a NaN
/// where all bits are set; E5M2 is IEEE-like.
double fromF8(std::uint8_t bits, int exponentBits, int bias, bool ieee) {
    const int fractionBits = 7 - exponentBits;
    const int exponent = (bits & 0x7f) >> fractionBits;
    const int fraction = bits & ((1 << fractionBits) - 1);
    const bool top = exponent == (1 << exponentBits) - 1;
    double magnitude;
    if (top && ieee)
        magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
    else if (top && fraction == (1 << fractionBits) - 1)
        magnitude = std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        magnitude = std::ldexp(fraction, 1 - bias - fractionBits);
    else
        magnitude = std::ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits);
    return bits & 0x80 ? -magnitude : magnitude;
}

} // namespace

float fromBf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float fromF16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f;
    const int fraction = bits & 0x3ff;
    float magnitude;
    if (exponent == 31)
        magnitude = fraction ? std::nanf("") : HUGE_VALF;
    else if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(fraction), -24);
    else
        magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

bool appendValues(ScalarType type, std::span<const std::byte> bytes, std::vector<double>& values) {
    switch (type) {
    case ScalarType::f64:
        return appendPlain<double>(bytes, values);
    case ScalarType::f32:
        return appendPlain<float>(bytes, values);
    case ScalarType::f16:
        return append<std::uint16_t>(bytes, values, fromF16);
    case ScalarType::bf16:
        return append<std::uint16_t>(bytes, values, fromBf16);
    case ScalarType::f8e4m3:
        return append<std::uint8_t>(bytes, values,
                                    [](std::uint8_t bits) { return fromF8(bits, 4, 7, false); });
    case ScalarType::f8e5m2:
        return append<std::uint8_t>(bytes, values,
                                    [](std::uint8_t bits) { return fromF8(bits, 5, 15, true); });
    case ScalarType::i64:
        return appendPlain<std::int64_t>(bytes, values);
    case ScalarType::i32:
        return appendPlain<std::int32_t>(bytes, values);
    case ScalarType::i16:
        return appendPlain<std::int16_t>(bytes, values);
    case ScalarType::i8:
        return appendPlain<std::int8_t>(bytes, values);
    case ScalarType::u8:
    case ScalarType::boolean:
        return appendPlain<std::uint8_t>(bytes, values);
    }
    return false;
}

} // namespace workbench
