#include "app/session/bisect_session.h"
#include "tests/app/session/norm_model.h"

#include <gtest/gtest.h>

namespace workbench::test {
namespace {

using By = SessionBisectRequest::By;

/// What norm_model.h says of the norms, found out by trying.
class BisectSessionTest : public testing::Test {
protected:
    std::string found(const std::vector<std::string>& norms, By by) {
        const Session session = fusedNormSession(norms);
        SessionBisectRequest request;
        request.by = by;
        request.load = {8, 4, 6, {}};
        const auto result = bisectSession(session, m_runtime, request, {});
        return result ? describe(*result, by) : result.error().message;
    }
    Runtime m_runtime{{}, WORKBENCH_FAKE_WORKER};
};

TEST_F(BisectSessionTest, NamesTheSiteThatMakesTheNumbersWrong) {
    EXPECT_EQ(found({"a", "b", "wrong", "d"}, By::numbers), "rms-norm@wrong makes it wrong");
}

TEST_F(BisectSessionTest, NamesThePairThatOnlyTogetherDoes) {
    EXPECT_EQ(found({"a", "c", "b", "d"}, By::numbers), "rms-norm@c and rms-norm@d together make it wrong");
}

TEST_F(BisectSessionTest, NamesBothKinds) {
    EXPECT_EQ(found({"wrong", "c", "d"}, By::numbers),
              "rms-norm@wrong makes it wrong; rms-norm@c and rms-norm@d together make it wrong");
}

TEST_F(BisectSessionTest, NamesTheSiteThatMakesItSlower) {
    EXPECT_EQ(found({"a", "slow", "b", "c"}, By::speed), "rms-norm@slow makes it slower");
}

TEST_F(BisectSessionTest, SaysThatNoSiteIsGuilty) {
    EXPECT_EQ(found({"a", "b"}, By::numbers),
              "with all 2 applied sites the numbers are within tolerance: no site is guilty");
    EXPECT_EQ(found({"a"}, By::speed),
              "with the applied site the model is not slower beyond the spread: no site is guilty");
}

TEST_F(BisectSessionTest, TooFewRoundsAreRefusedRatherThanFoundNotSlower) {
    SessionBisectRequest request;
    request.by = By::speed;
    request.load.rounds = 5;
    const auto result = bisectSession(fusedNormSession({"slow"}), m_runtime, request, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "5 rounds are too few to call anything slower: take 6 or more");
}

TEST_F(BisectSessionTest, NothingAppliedIsSaid) {
    const auto result = bisectSession(normSession({"a"}), m_runtime, {}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::usage);
}

TEST_F(BisectSessionTest, TheSessionStaysAsItIs) {
    const Session session = fusedNormSession({"a", "wrong"});
    const Decisions before = session.decisions();
    ASSERT_TRUE(bisectSession(session, m_runtime, {}, {}));
    EXPECT_EQ(session.decisions(), before);
}

} // namespace
} // namespace workbench::test
