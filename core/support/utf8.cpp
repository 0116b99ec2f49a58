#include "core/support/utf8.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace workbench {

bool isUtf8(std::string_view text) {
    // The smallest code point of each length: what could be shorter is malformed.
    constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80            ? 1
                                   : lead >> 5 == 0b110   ? 2
                                   : lead >> 4 == 0b1110  ? 3
                                   : lead >> 3 == 0b11110 ? 4
                                                          : 0;
        if (length == 0 || length > text.size() - i)
            return false;
        std::uint32_t point = length == 1 ? lead : lead & (0x7fu >> length);
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            if (next >> 6 != 0b10)
                return false;
            point = point << 6 | (next & 0x3fu);
        }
        if (point < kSmallest[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
            return false;
        i += length;
    }
    return true;
}

} // namespace workbench
