#include "app/gui/measure/chart_style.h"
#include "app/gui/measure/live_curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace workbench::gui::test {
namespace {

TEST(AxisScale, MarksAreRoundAndReachTheLargestValue) {
    struct Case {
        double largest;
        int most;
        double step;
        double end;
    };
    for (const Case& one :
         {Case{31, 5, 10, 40}, {50, 5, 10, 50}, {1614, 4, 500, 2000}, {0.3, 3, 0.1, 0.3}, {7, 7, 1, 7}}) {
        const AxisScale scale = scaleFor(one.largest, one.most);
        EXPECT_NEAR(scale.step, one.step, 1e-9) << one.largest;
        EXPECT_NEAR(scale.end, one.end, 1e-9) << one.largest;
        EXPECT_NEAR(scale.marks().back(), one.end, 1e-9);
        EXPECT_LE(scale.marks().size(), static_cast<std::size_t>(one.most) + 1);
    }
}

TEST(AxisScale, WhatIsNoSpeedStillHasAnAxis) {
    for (const double largest : {0.0, -3.0, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_EQ(scaleFor(largest, 5).end, 1) << largest;
}

TEST(LiveCurve, ShowsTheSpeedBetweenTwoPaces) {
    LiveCurve curve;
    curve.add({"original", 0, 2, 0.1}, 10);
    curve.add({"original", 0, 5, 0.3}, 10);
    curve.add({"original", 1, 4, 0.1}, 10);
    ASSERT_EQ(curve.points().size(), 3u);
    EXPECT_NEAR(curve.points()[0].y(), 20, 1e-9);
    EXPECT_NEAR(curve.points()[1].x(), 0.5, 1e-9);
    EXPECT_NEAR(curve.points()[1].y(), 15, 1e-9);
    EXPECT_NEAR(curve.points()[2].x(), 1.4, 1e-9);
    EXPECT_NEAR(curve.points()[2].y(), 40, 1e-9);
}

TEST(LiveCurve, LeavesOutTheRoundThatIsNotCountedAndPacesWithoutTokens) {
    LiveCurve curve;
    curve.add({"original", -1, 5, 0.3}, 10);
    curve.add({"original", 0, 0, 0}, 10);
    EXPECT_TRUE(curve.points().empty());
    curve.add({"original", 0, 10, 0.5}, 10);
    ASSERT_EQ(curve.points().size(), 1u);
    EXPECT_LT(curve.points()[0].x(), 1);
}

} // namespace
} // namespace workbench::gui::test
