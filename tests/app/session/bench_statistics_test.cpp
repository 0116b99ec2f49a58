#include "app/session/bench_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace workbench {
namespace {

std::vector<double> upTo(int count) {
    std::vector<double> values;
    for (int i = count; i >= 1; --i)
        values.push_back(i);
    return values;
}

TEST(BenchStatistics, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
    const Spread spread = spreadOf({4, 1, 3, 2});
    EXPECT_EQ(spread.median, 2.5);
    EXPECT_EQ(spread.min, 1);
    EXPECT_EQ(spread.max, 4);
    EXPECT_TRUE(std::isnan(spreadOf({}).median));
}

TEST(BenchStatistics, PercentilesAreValuesThatWereMeasured) {
    EXPECT_EQ(percentile(upTo(100), 0.5), 50);
    EXPECT_EQ(percentile(upTo(100), 0.99), 99);
    EXPECT_EQ(percentile(upTo(100), 1), 100);
    EXPECT_EQ(percentile({7}, 0.5), 7);
    EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

/// Ranks of the printed tables (Conover, Practical Nonparametric Statistics, table A3; Hahn and Meeker).
TEST(BenchStatistics, TheMediansIntervalIsThatOfTheTables) {
    for (const auto& [count, low] :
         std::vector<std::pair<int, int>>{{6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {25, 8}}) {
        const Interval interval = medianInterval(upTo(count));
        EXPECT_EQ(interval.low, low) << count;
        EXPECT_EQ(interval.high, count + 1 - low) << count;
    }
}

/// (n - 1.96 sqrt(n)) / 2, the tables' formula for many values.
TEST(BenchStatistics, TheIntervalOfManyValuesStaysAboutTheMedian) {
    for (const auto& [count, low] :
         std::vector<std::pair<int, int>>{{500, 228}, {501, 228}, {1100, 517}, {10000, 4902}})
        EXPECT_NEAR(medianInterval(upTo(count)).low, low, 1) << count;
}

TEST(BenchStatistics, FewValuesGiveTheirWholeRange) {
    const Interval interval = medianInterval({3, 1, 2});
    EXPECT_EQ(interval.low, 1);
    EXPECT_EQ(interval.high, 3);
}

TEST(BenchStatistics, RoundsAreComparedWithTheirPartners) {
    // The machine slows down to a third for both: the ratio stays.
    const Comparison comparison = compareSpeeds({90, 60, 30, 30, 45, 15}, {120, 80, 40, 40, 60, 20});
    EXPECT_NEAR(comparison.ratio, 4.0 / 3, 1e-12);
    EXPECT_NEAR(comparison.interval.low, 4.0 / 3, 1e-12);
    EXPECT_EQ(comparison.verdict, SpeedVerdict::faster);
}

TEST(BenchStatistics, ADifferenceSmallerThanTheSpreadIsNone) {
    const Comparison comparison =
        compareSpeeds({100, 100, 100, 100, 100, 100}, {104, 97, 103, 102, 101, 102});
    EXPECT_EQ(comparison.verdict, SpeedVerdict::withinSpread);
    EXPECT_EQ(describe(comparison), "1.02 times (0.97 to 1.04): within the spread");
}

TEST(BenchStatistics, SlowerIsSaidAsClearly) {
    EXPECT_EQ(compareSpeeds({100, 100, 100, 100, 100, 100}, {90, 91, 89, 90, 90, 90}).verdict,
              SpeedVerdict::slower);
}

// Of five rounds of equal programs one in sixteen has all ratios on one side.
TEST(BenchStatistics, FiveRoundsAreTooFewForAVerdict) {
    EXPECT_EQ(compareSpeeds({1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}).verdict, SpeedVerdict::tooFewRounds);
    EXPECT_EQ(describe(compareSpeeds({}, {})), "too few rounds");
}

TEST(BenchStatistics, ARoundWithoutPartnerIsLeftOut) {
    EXPECT_NEAR(compareSpeeds({100, 100, 100, 1}, {110, 110, 110}).ratio, 1.1, 1e-12);
}

} // namespace
} // namespace workbench
