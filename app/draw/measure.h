#pragma once

#include "app/draw/scene.h"

/// Sizes and distances of the drawing at scale 1, in device-independent pixels.

namespace workbench {

inline constexpr double kTitlePixels = 13, kTextPixels = 11, kLabelPixels = 10.5, kBadgePixels = 11;
inline constexpr double kTitleLine = 18, kTextLine = 15;
inline constexpr double kSidePadding = 12, kTopPadding = 7;
inline constexpr double kCornerRadius = 7;
inline constexpr double kStackOffset = 4; ///< between the cards of a folded box
inline constexpr double kStripWidth = 5;  ///< pattern's colour at a node's left side
inline constexpr double kBarHeight = 4;   ///< patterns' colours along a module's lower side
inline constexpr double kHeader = 34;     ///< of an opened module
inline constexpr double kPillGap = 6, kPillDistance = 16;
inline constexpr double kArrowLength = 7, kArrowWidth = 6.5;

/// "×28"; empty: none.
QString countBadge(const Box& box);
double badgeWidth(const Box& box);
/// The texts cut to the longest that a box may have.
BoxText textOf(const Box& box);
QSizeF sizeOf(const Box& box, const BoxText& text);
/// "bf16[1, T, 576]" beside an edge.
QSizeF labelSize(const std::string& label);

/// Where the boxes beside a box go: some to its left, the others to its right.
struct Beside {
    std::vector<std::int32_t> left, right;
    double leftWidth = 0, rightWidth = 0; ///< with their distance; 0: none
    double height = 0;
};

} // namespace workbench
