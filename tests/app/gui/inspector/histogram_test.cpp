#include "app/gui/inspector/histogram.h"

#include <gtest/gtest.h>

namespace workbench::gui::test {
namespace {

WeightStatistics bell() {
    WeightStatistics s;
    s.count = 100;
    s.minimum = -1;
    s.maximum = 1;
    s.histogram.assign(kHistogramBins, 0);
    s.histogram[32] = 100;
    return s;
}

TEST(HistogramWidget, DrawsTheBinsThatHoldNumbers) {
    Histogram histogram(bell(), "w", nullptr);
    histogram.resize(256, histogram.sizeHint().height());
    const QImage image = histogram.grab().toImage();
    const QColor bar = histogram.palette().color(QPalette::Highlight);
    const auto has = [&](int column) {
        for (int y = 0; y < 60; ++y)
            if (image.pixelColor(column, y) == bar)
                return true;
        return false;
    };
    EXPECT_TRUE(has(256 * 32 / 64 + 1));
    EXPECT_FALSE(has(256 * 10 / 64 + 1));
}

TEST(HistogramWidget, ASingleNumberIsStillSeen) {
    WeightStatistics s = bell();
    s.histogram[2] = 1;
    s.histogram[32] = 1000000;
    Histogram histogram(s, "w", nullptr);
    histogram.resize(256, histogram.sizeHint().height());
    const QImage image = histogram.grab().toImage();
    bool seen = false;
    for (int y = 60; y < 67; ++y)
        seen = seen || image.pixelColor(9, y) == histogram.palette().color(QPalette::Highlight);
    EXPECT_TRUE(seen);
}

TEST(HistogramWidget, NothingToDrawIsNoTrouble) {
    Histogram histogram({}, "w", nullptr);
    EXPECT_FALSE(histogram.grab().isNull());
    EXPECT_FALSE(histogram.accessibleName().isEmpty());
}

} // namespace
} // namespace workbench::gui::test
