#include "app/session/measurement.h"
#include "tests/app/session/norm_model.h"

#include <gtest/gtest.h>

namespace workbench::test {
namespace {

/// The fake worker: 10 ms a token, a millisecond less for each fused norm; the prompt 1 ms a token.
class MeasurementTest : public testing::Test {
protected:
    Result<BenchReport> run(const MeasureRequest& request) {
        return measure(m_session, m_runtime, request, m_observer, m_job);
    }
    Session m_session = fusedNormSession({"a", "b"});
    Runtime m_runtime{{}, WORKBENCH_FAKE_WORKER};
    MeasureObserver m_observer;
    CancelToken m_cancel;
    Job m_job{&m_cancel, {}};
};

TEST_F(MeasurementTest, ComparesTheModelWithTheDecidedOne) {
    const auto report = run({{8, 4, 6, {}}, false, "cpu"});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->before.rounds.size(), 6u);
    EXPECT_NEAR(report->before.rounds[0].decode, 100, 1e-9);
    EXPECT_NEAR(report->after.rounds[2].decode, 125, 1e-9);
    EXPECT_NEAR(report->after.rounds[2].prefill, 1000, 1e-9);
    EXPECT_NEAR(report->after.rounds[2].output, 4 / (0.008 + 3 * 0.008), 1e-9);
    EXPECT_NEAR(report->before.latency.p99, 10, 1e-9);
    EXPECT_NEAR(report->before.latency.firstToken, 8, 1e-9);
    const Comparison decode = compare(report->before, report->after, Quantity::decode);
    EXPECT_NEAR(decode.ratio, 1.25, 1e-9);
    EXPECT_EQ(decode.verdict, SpeedVerdict::faster);
    EXPECT_EQ(compare(report->before, report->after, Quantity::prefill).verdict, SpeedVerdict::withinSpread);
    EXPECT_EQ(report->machine.at("isa"), "NONE");
    EXPECT_TRUE(report->patterns.empty());
}

TEST_F(MeasurementTest, CountsAllRequestsThatRunAtOnce) {
    BenchLoad load{8, 4, 2, {}};
    load.kind = LoadKind::mixed;
    load.concurrency = 3;
    const auto report = run({load, false, "cpu"});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_NEAR(report->before.rounds[0].prefill, 3 * 8 / 0.008, 1e-6);
    EXPECT_NEAR(report->before.rounds[0].decode, 3 * 3 / 0.030, 1e-6);
    EXPECT_NEAR(report->before.rounds[0].output, 3 * 4 / 0.038, 1e-6);
    EXPECT_EQ(report->memory.at("peak_bytes"), 1000);
}

TEST_F(MeasurementTest, AModelWithoutHandWrittenCodeIsToldWhy) {
    MeasureRequest request{{8, 4, 1, {}}, false, "cpu"};
    request.native = true;
    const auto report = run(request);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->native);
    EXPECT_EQ(report->nativeReason, "An archive has no config.json, which hand-written code needs.");
}

TEST_F(MeasurementTest, AModelThatTransformersCannotRunIsToldWhy) {
    MeasureRequest request{{8, 4, 1, {}}, false, "cpu"};
    request.eager = true;
    const auto report = run(request);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->eager);
    EXPECT_EQ(report->eagerReason, "The worker may run on another machine than transformers.");
}

TEST_F(MeasurementTest, HandWrittenCodeThatComputesOtherNumbersTakesNoPart) {
    BenchReport start;
    start.native.emplace();
    BenchRecorder recorder(std::move(start));
    recorder.addSummary({{"native", {{"reason", "Its logits are 0.5 apart."}}}});
    EXPECT_FALSE(recorder.report().native);
    EXPECT_EQ(recorder.report().nativeReason, "Its logits are 0.5 apart.");
    EXPECT_TRUE(recorder.report().nativeCheck.is_null());
}

TEST_F(MeasurementTest, PromptsAreMeasuredOneAtATime) {
    BenchLoad load{8, 4, 1, {"a prompt"}};
    load.concurrency = 2;
    const auto report = run({load, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message,
              "prompts are measured one at a time, a round each: take them with one request at once");
}

TEST_F(MeasurementTest, LeavesEachPatternOutWhenAsked) {
    const auto report = run({{8, 4, 3, {}}, true, "cpu"});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->patterns.size(), 1u);
    EXPECT_EQ(report->patterns[0].pattern, "rms-norm");
    EXPECT_EQ(report->patterns[0].sites, 2);
    EXPECT_NEAR(effectOf(report->patterns[0], *report, Quantity::decode).ratio, 1.25, 1e-9);
}

TEST_F(MeasurementTest, TellsOfEveryRoundInTurn) {
    std::vector<std::pair<std::size_t, std::size_t>> rounds;
    std::size_t paces = 0;
    m_observer.onSample = [&](const BenchReport& report) {
        rounds.emplace_back(report.before.rounds.size(), report.after.rounds.size());
    };
    m_observer.onPace = [&](const BenchPace& pace) { paces += pace.tokens == 1 && pace.seconds > 0; };
    ASSERT_TRUE(run({{8, 4, 2, {}}, false, "cpu"}));
    EXPECT_EQ(rounds, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 0}, {1, 1}, {2, 1}, {2, 2}}));
    EXPECT_EQ(paces, 4u);
}

TEST_F(MeasurementTest, ADeadWorkerIsASentenceAndTheNextStartWorks) {
    std::size_t told = 0;
    m_observer.onSample = [&](const BenchReport&) { ++told; };
    const auto report = run({{8, 13, 5, {}}, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(report.error().message.find("memory"), std::string::npos) << report.error().message;
    EXPECT_EQ(told, 3u);
    EXPECT_TRUE(run({{8, 4, 1, {}}, false, "cpu"}));
}

TEST_F(MeasurementTest, StopsWhenCancelled) {
    m_observer.onSample = [&](const BenchReport&) { m_cancel.cancel(); };
    const auto report = run({{8, 14, 1, {}}, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

TEST_F(MeasurementTest, SamplesThatMakeNoSenseAreAnError) {
    const auto report = run({{8, 15, 1, {}}, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message.find("original"), std::string::npos);
}

TEST_F(MeasurementTest, RefusesALoadLongerThanTheContext) {
    const auto report = run({{4000, 97, 1, {}}, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message.find("4096"), std::string::npos) << report.error().message;
}

TEST_F(MeasurementTest, PromptsNeedATokenizer) {
    const auto report = run({{8, 4, 1, {"hello"}}, false, "cpu"});
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message.find("tokenizer"), std::string::npos) << report.error().message;
}

TEST(WithoutPattern, RejectsItsAppliedSitesAlone) {
    const Session session = normSession({"a", "b"});
    const Decisions decisions{{"rms-norm@a", Decision::apply}, {"qkv@x", Decision::apply}};
    EXPECT_EQ(withoutPattern(session.model().analysis, decisions, "rms-norm"),
              (Decisions{{"rms-norm@a", Decision::reject}, {"qkv@x", Decision::apply}}));
}

} // namespace
} // namespace workbench::test
