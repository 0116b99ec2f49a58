#include "app/draw/theme.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

/// WCAG 2.1, 1.4.3: text at least 4.5, 1.4.11: graphics at least 3.
constexpr double kText = 4.5, kGraphics = 3;

class ThemeTest : public testing::TestWithParam<const Theme*> {};

TEST_P(ThemeTest, TextReadsOnEveryFill) {
    const Theme& theme = *GetParam();
    for (const QColor& fill : {theme.background, theme.moduleFill, theme.containerFill, theme.nodeFill,
                               theme.inputFill, theme.outputFill, theme.parameterFill, theme.copyFill}) {
        EXPECT_GE(contrast(theme.text, fill), kText) << fill.name().toStdString();
        EXPECT_GE(contrast(theme.mutedText, fill), kText) << fill.name().toStdString();
    }
    EXPECT_GE(contrast(theme.edgeText, theme.background), kText);
    EXPECT_GE(contrast(theme.edgeText, theme.containerFill), kText);
}

TEST_P(ThemeTest, PatternsStandOutFromNodesAndBackground) {
    const Theme& theme = *GetParam();
    for (const QColor& slot : theme.patterns) {
        EXPECT_GE(contrast(slot, theme.nodeFill), kGraphics) << slot.name().toStdString();
        EXPECT_GE(contrast(slot, theme.background), kGraphics) << slot.name().toStdString();
    }
}

TEST_P(ThemeTest, TheOverlaysTextReadsAtEveryShare) {
    const Theme& theme = *GetParam();
    for (int share = 0; share <= 10; ++share) {
        const QColor fill = theme.overlay(share / 10.0);
        EXPECT_GE(contrast(theme.textOn(fill), fill), kText) << share;
    }
}

INSTANTIATE_TEST_SUITE_P(Both, ThemeTest, testing::Values(&Theme::light(), &Theme::darkOne()),
                         [](const auto& info) { return info.param->dark ? "Dark" : "Light"; });

TEST(Theme, BlackOnWhiteHasTheLargestContrast) {
    EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 0.01); // WCAG's own example
    EXPECT_DOUBLE_EQ(contrast(Qt::white, Qt::black), contrast(Qt::black, Qt::white));
}

TEST(Theme, SlotsStartOverAfterTheLast) {
    const Theme& theme = Theme::light();
    EXPECT_EQ(theme.slot(12), theme.slot(0));
}

} // namespace
} // namespace workbench
