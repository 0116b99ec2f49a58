#include "core/support/real_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace workbench {

std::string realText(double value) {
    std::array<char, 40> buffer;
    const auto text = [&](auto number) {
        return std::string(buffer.data(),
                           std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr);
    };
    const bool inRange = std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
    if (inRange && static_cast<double>(static_cast<float>(value)) == value)
        return text(static_cast<float>(value));
    return text(value);
}

} // namespace workbench
