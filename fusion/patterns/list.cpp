#include "fusion/patterns/list.h"

#include <array>

namespace workbench {

std::span<const Pattern> patterns() {
    static const std::array all{attention(), qkNormRope(), addRmsNorm(), qkv(),    gateUp(),
                                moe(),       moeRouter(),  rope(),       rmsNorm()};
    return all;
}

const Pattern* findPattern(std::string_view name) {
    for (const Pattern& pattern : patterns())
        if (pattern.name == name)
            return &pattern;
    return nullptr;
}

std::string patternNames() {
    std::string names;
    for (const Pattern& pattern : patterns())
        names += (names.empty() ? "" : ", ") + std::string(pattern.name);
    return names;
}

std::string_view moduleOfPlace(const MatchContext& context, NodeId place) {
    return context.view().graph().modulePath(place);
}

} // namespace workbench
