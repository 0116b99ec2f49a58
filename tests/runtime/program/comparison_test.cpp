#include "runtime/program/comparison.h"
#include "tests/runtime/program/support.h"

#include <cmath>
#include <limits>

namespace workbench::test {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

TEST(Comparison, GivesTheLargestErrorAndItsShareOfTheReference) {
    const auto difference = compare(floats({1, -8, 2}, {3}), floats({1.5f, -8, 1}, {3}), "x");
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->maxAbsError, 1);
    EXPECT_EQ(difference->maxAbs, 8);
    EXPECT_EQ(difference->relativeError, 0.125);
}

TEST(Comparison, ReadsStridedTensorsInOrder) {
    const at::Tensor wide = floats({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(compare(wide.t(), floats({1, 3, 2, 4}, {2, 2}), "x")->maxAbsError, 0);
    EXPECT_EQ(compare(wide.t(), wide, "x")->maxAbsError, 1);
}

TEST(Comparison, NeverCallsNanEqual) {
    for (const float bad : {kNan, kInfinity, -kInfinity})
        for (const bool both : {false, true}) {
            const auto a = compare(floats({1, bad}, {2}), floats({1, both ? bad : 2}, {2}), "the logits");
            ASSERT_FALSE(a);
            EXPECT_EQ(a.error().code, ErrorCode::requirementFailed);
            EXPECT_NE(a.error().message.find("the logits"), std::string::npos);
            EXPECT_FALSE(compare(floats({1, both ? bad : 2}, {2}), floats({1, bad}, {2}), "x"));
        }
}

TEST(Comparison, RefusesWhatCannotBeCompared) {
    EXPECT_FALSE(compare(floats({1, 2}, {2}), floats({1, 2}, {1, 2}), "x"));
    EXPECT_FALSE(compare(floats({1}, {1}), floats({1}, {1}).to(at::kBFloat16), "x"));
    EXPECT_FALSE(compare(floats({}, {0}), floats({}, {0}), "x"));
}

TEST(Comparison, FailsAnyErrorAgainstAllZeros) {
    EXPECT_EQ(compare(floats({0, 0}, {2}), floats({0, 1e-9f}, {2}), "x")->relativeError,
              std::numeric_limits<double>::max());
    EXPECT_EQ(compare(floats({0, 0}, {2}), floats({0, 0}, {2}), "x")->relativeError, 0);
}

TEST(Comparison, ComparesPastTheFirstChunk) {
    const std::int64_t size = (1 << 20) + 3;
    at::Tensor a = floats(std::vector<float>(size, 1), {size});
    at::Tensor b = a.clone();
    b.mutable_data_ptr<float>()[size - 1] = 3;
    EXPECT_EQ(compare(a, b, "x")->maxAbsError, 2);
}

TEST(GreedyChoices, TakesTheFirstOfEqualsAndTellsTheGap) {
    const auto choices = greedyChoices(floats({1, 3, 3, 0, /**/ -1, -4, -2, -3}, {2, 4}));
    ASSERT_TRUE(choices);
    EXPECT_EQ(choices->at(0).token, 1);
    EXPECT_EQ(choices->at(0).gap, 0);
    EXPECT_EQ(choices->at(1).token, 0);
    EXPECT_EQ(choices->at(1).gap, 1);
}

TEST(GreedyChoices, RefusesLogitsThatAreNotFinite) {
    EXPECT_FALSE(greedyChoices(floats({1, kNan, 3}, {1, 3})));
    EXPECT_FALSE(greedyChoices(floats({kNan, 1, 3}, {1, 3})));
    EXPECT_FALSE(greedyChoices(floats({1, -kInfinity, 3}, {1, 3})));
    EXPECT_TRUE(greedyChoices(floats({3e38f, 3e38f, 3e38f}, {1, 3})));
}

} // namespace
} // namespace workbench::test
