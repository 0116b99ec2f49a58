#include "core/support/real_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace workbench::test {
namespace {

TEST(RealText, SaysAnF32AsItWasWritten) {
    EXPECT_EQ(realText(static_cast<double>(1e-5F)), "1e-05");
    EXPECT_EQ(realText(static_cast<double>(0.1F)), "0.1");
    EXPECT_EQ(realText(0.5), "0.5");
}

TEST(RealText, KeepsADoubleThatNoF32Is) {
    EXPECT_EQ(realText(1e-5), "1e-05");
    EXPECT_EQ(realText(0.1), "0.1");
    EXPECT_EQ(realText(0.123456789012), "0.123456789012");
    EXPECT_EQ(realText(1e300), "1e+300");
}

TEST(RealText, ReadsBackAsTheSame) {
    for (const double value : {1.0 / 3, 2.5e-310, -7.25, 65504.0})
        EXPECT_EQ(std::strtod(realText(value).c_str(), nullptr), value) << realText(value);
    for (const float value : {1.0F / 3, 3.4028235e38F, 1e-40F})
        EXPECT_EQ(std::strtof(realText(static_cast<double>(value)).c_str(), nullptr), value);
}

TEST(RealText, HasWordsForWhatIsNoNumber) {
    EXPECT_EQ(realText(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(realText(std::numeric_limits<double>::quiet_NaN()), "nan");
}

} // namespace
} // namespace workbench::test
