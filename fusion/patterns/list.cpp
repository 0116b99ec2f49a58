#include "fusion/patterns/list.h"

#include <array>

namespace workbench {

std::span<const Pattern> patterns()
{
    static const std::array all{rmsNorm()};
    return all;
}

const Pattern* findPattern(std::string_view name)
{
    for (const Pattern& pattern : patterns())
        if (pattern.name == name)
            return &pattern;
    return nullptr;
}

} // namespace workbench
