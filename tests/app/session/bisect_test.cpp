#include "app/session/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

using Set = std::vector<std::size_t>;

bool hasAll(const Set& on, const Set& wanted) {
    return std::includes(on.begin(), on.end(), wanted.begin(), wanted.end());
}

/// Wrong where all of one of the sets are on.
BisectRequest searchFor(std::size_t count, std::vector<Set> guilty) {
    BisectRequest request;
    request.count = count;
    request.test = [guilty = std::move(guilty)](const Set& on) -> Result<BisectTry> {
        return BisectTry{
            std::any_of(guilty.begin(), guilty.end(), [&](const Set& set) { return hasAll(on, set); }),
            "a figure"};
    };
    return request;
}

TEST(Bisect, NamesTheGuiltyOneOfManyInFewTries) {
    for (const std::size_t guilty : {0, 1, 500, 998, 999}) {
        const auto result = bisect(searchFor(1000, {{guilty}}), {});
        ASSERT_TRUE(result);
        EXPECT_TRUE(result->wrong);
        EXPECT_EQ(result->guilty, (std::vector<Set>{{guilty}}));
        EXPECT_FALSE(result->rest);
        EXPECT_LE(result->steps.size(), 22u); // all, 2 x 10 halves, the rest
    }
}

TEST(Bisect, NamesAPairThatIsWrongOnlyTogether) {
    for (const Set& pair : std::vector<Set>{{3, 90}, {0, 99}, {10, 11}, {49, 50}})
        EXPECT_EQ(bisect(searchFor(100, {pair}), {})->guilty, (std::vector<Set>{pair}));
}

TEST(Bisect, NamesThreeThatAreWrongOnlyTogether) {
    EXPECT_EQ(bisect(searchFor(64, {{1, 30, 60}}), {})->guilty, (std::vector<Set>{{1, 30, 60}}));
}

TEST(Bisect, GoesOnUntilTheRestIsRight) {
    auto result = bisect(searchFor(64, {{50}, {4}, {20, 40}}), {});
    ASSERT_TRUE(result);
    std::sort(result->guilty.begin(), result->guilty.end());
    EXPECT_EQ(result->guilty, (std::vector<Set>{{4}, {20, 40}, {50}}));
    EXPECT_FALSE(result->rest);
}

TEST(Bisect, SaysThatThereAreMoreThanItNames) {
    BisectRequest request = searchFor(8, {{0}, {1}, {2}});
    request.most = 2;
    const auto result = bisect(request, {});
    EXPECT_EQ(result->guilty.size(), 2u);
    EXPECT_TRUE(result->rest);
}

TEST(Bisect, NothingWrongIsOneTry) {
    const auto result = bisect(searchFor(100, {}), {});
    EXPECT_FALSE(result->wrong);
    EXPECT_EQ(result->steps.size(), 1u);
    EXPECT_TRUE(result->guilty.empty());
}

TEST(Bisect, NothingToSwitchIsNothingWrong) {
    const auto result = bisect(searchFor(0, {}), {});
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->wrong);
}

TEST(Bisect, EverythingGuiltyAloneIsNamedWhole) {
    const auto result = bisect(searchFor(1, {{0}}), {});
    EXPECT_EQ(result->guilty, (std::vector<Set>{{0}}));
    EXPECT_FALSE(result->rest);
}

TEST(Bisect, LeavesASetWholeWhoseHalvesAreRightWhenAsked) {
    BisectRequest request = searchFor(8, {{1, 6}});
    request.joint = BisectRequest::Joint::together;
    EXPECT_EQ(bisect(request, {})->guilty, (std::vector<Set>{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(Bisect, TellsOfEachTryOnce) {
    std::vector<Set> told;
    BisectRequest request = searchFor(16, {{2, 9}});
    request.onStep = [&](const BisectStep& step) { told.push_back(step.on); };
    const auto result = bisect(request, {});
    ASSERT_EQ(told.size(), result->steps.size());
    std::sort(told.begin(), told.end());
    EXPECT_EQ(std::adjacent_find(told.begin(), told.end()), told.end());
}

TEST(Bisect, StopsWhenCancelled) {
    CancelToken cancel;
    BisectRequest request = searchFor(100, {{7}});
    request.onStep = [&](const BisectStep&) { cancel.cancel(); };
    const auto result = bisect(request, {&cancel, {}});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(Bisect, AFailedTryEndsIt) {
    BisectRequest request = searchFor(4, {});
    request.test = [](const Set&) -> Result<BisectTry> {
        return Error{ErrorCode::runtimeFailed, "the worker died", {}};
    };
    const auto result = bisect(request, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the worker died");
}

} // namespace
} // namespace workbench
