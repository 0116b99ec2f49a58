#include "app/session/verify.h"
#include "tests/app/session/norm_model.h"

#include <gtest/gtest.h>

namespace workbench::test {
namespace {

TEST(Verify, KeepsTheProofWhenWhatTheWeightsCostCannotBeTold) {
    Session session = fusedNormSession({"a", "b"});
    Runtime runtime({}, WORKBENCH_FAKE_WORKER, {}, "int8"); // which has no memory to run anything alone
    const auto report = verifySession(session, runtime, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->passed);
    EXPECT_EQ(report->sites.size(), 2u);
    EXPECT_FALSE(report->loss);
    // The weights as stored are loaded in the place of the truth, which is gone then.
    EXPECT_EQ(report->lossReason, "no memory to run truth");
    const auto last = runtime.call("weights", nlohmann::json::object(), {});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->result.at("format"), "stored");
}

TEST(Verify, LooksForNoLossOfWeightsAsStored) {
    Session session = fusedNormSession({"a"});
    Runtime runtime({}, WORKBENCH_FAKE_WORKER);
    const auto report = verifySession(session, runtime, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->passed);
    EXPECT_EQ(report->lossReason, "");
    EXPECT_TRUE(report->products.empty());
}

TEST(Verify, AModelThatTheEngineCannotRunIsProvenAllTheSame) {
    Session session = fusedNormSession({"a"});
    Runtime runtime({}, WORKBENCH_FAKE_WORKER);
    const auto report = verifySession(session, runtime, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->passed);
    EXPECT_FALSE(report->engine);
    EXPECT_EQ(report->engineReason, "no cache");
}

TEST(Verify, ReportsWhatIsNotInFewerBits) {
    Session session = fusedNormSession({"a"});
    Runtime runtime({}, WORKBENCH_FAKE_WORKER, {}, "int4");
    const auto report = verifySession(session, runtime, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    for (const char* program : {"original", "rewritten"})
        EXPECT_EQ(report->products.at(program).at("stored").at("matrices"), 2) << program;
}

} // namespace
} // namespace workbench::test
