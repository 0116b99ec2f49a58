#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace workbench {

/// Damages bytes as disks, editors and attackers do. The same seed always gives the same damage.
class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : m_random(seed) {}

    std::string operator()(std::string bytes) {
        for (std::size_t times = 1 + below(3); times > 0; --times)
            once(bytes);
        return bytes;
    }

private:
    /// Values at which readers go wrong.
    static constexpr std::array kTokens{"-1",
                                        "0",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "1e999",
                                        "1.5",
                                        "null",
                                        "true",
                                        "[]",
                                        "{}",
                                        "\"\"",
                                        "\"s0\"",
                                        "[[[[[[[[",
                                        "s0*s0*s0",
                                        "..",
                                        "\xff",
                                        "%",
                                        "none"};

    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : m_random() % limit; }

    void once(std::string& bytes) {
        const std::size_t at = below(bytes.size() + 1);
        const std::size_t length =
            std::min(bytes.size() - at, below(16) == 0 ? below(bytes.size() + 1) : 1 + below(12));
        switch (below(7)) {
        case 0: // one bit
            if (at < bytes.size())
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
            break;
        case 1: // one byte
            if (at < bytes.size())
                bytes[at] = static_cast<char>(m_random());
            break;
        case 2:
            bytes.erase(at, length);
            break;
        case 3:
            bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
            break;
        case 4:
            bytes.insert(at, kTokens[below(kTokens.size())]);
            break;
        case 5:
            replaceNumber(bytes, at);
            break;
        case 6: // every eighth time: cut short
            bytes.resize(below(8) == 0 ? at : bytes.size());
            break;
        }
    }

    /// The next number of a text becomes another value.
    void replaceNumber(std::string& bytes, std::size_t from) {
        const std::size_t begin = bytes.find_first_of("0123456789", from);
        if (begin == std::string::npos)
            return;
        const std::size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
        bytes.replace(begin, end - begin, kTokens[below(kTokens.size())]);
    }

    std::mt19937_64 m_random;
};

} // namespace workbench
