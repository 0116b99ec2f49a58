// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011): random
// numbers by index, so that the n-th token of a request meets the same number whatever runs beside it.
#pragma once

#include <array>
#include <cstdint>

namespace workbench {

inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

/// In [0, 1), with 53 random bits.
inline double uniformAt(std::uint64_t seed, std::uint64_t index) {
    const auto words =
        philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0},
               {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::uint64_t bits = (std::uint64_t{words[0]} << 32 | words[1]) >> 11;
    return static_cast<double>(bits) * 0x1p-53;
}

} // namespace workbench
