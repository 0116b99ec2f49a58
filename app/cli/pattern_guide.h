#pragma once

#include <span>
#include <string>
#include <string_view>

namespace workbench::cli {

/// What `workbench patterns` tells of a pattern.
struct PatternGuide {
    std::string_view name;
    std::string_view summary;
    std::string_view formula;
    std::string_view sketch;
    std::string_view seenIn;
    std::string_view refuses;
};

/// In priority order: a site of an earlier pattern takes its nodes from the later ones.
std::span<const PatternGuide> patternGuides();
/// nullptr when there is no such pattern.
const PatternGuide* findPattern(std::string_view name);
std::string patternNames(); ///< "attention, qk-norm-rope, ..."

} // namespace workbench::cli
