#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace workbench {

/// SHA-256 (FIPS 180-4) fed piece by piece.
class Sha256 {
public:
    void update(std::string_view bytes);
    /// 64 lower-case hexadecimal digits. The object is used up.
    std::string finishHex();

private:
    void processBlock(const unsigned char* block);

    std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> m_block{};
    std::uint64_t m_length = 0;
};

std::string sha256Hex(std::string_view bytes);

} // namespace workbench
