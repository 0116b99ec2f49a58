#include "runtime/benchmark/round.h"
#include "tests/runtime/engine/fake_model.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace workbench::benchmark {
namespace {

using workbench::testing::FakeModel;

/// An engine on the fake model; `onRun` is called before every step.
std::unique_ptr<Engine>
engineOf(std::function<Status(const StepPlan&, const std::atomic<bool>&)> onRun = {}) {
    const BlockLayout layout{.blockTokens = 4, .blocks = 64, .reusePrefixes = false};
    auto model = std::make_unique<FakeModel>(layout);
    model->onRun = std::move(onRun);
    return Engine::create({.limits = {.stepTokens = 64}, .blocks = layout}, std::move(model)).value();
}

Load loadOf(std::size_t requests, std::int64_t prompt, std::int64_t fresh) {
    return syntheticLoad(std::vector<RequestSize>(requests, {0, prompt, fresh}), FakeModel::kVocabulary);
}

TEST(SyntheticLoad, GivesEveryRequestAnotherPromptOfTheVocabulary) {
    const Load load = loadOf(3, 10, 5);
    ASSERT_EQ(load.size(), 3u);
    EXPECT_NE(load[0].prompt, load[1].prompt);
    for (const LoadRequest& request : load)
        for (const std::int64_t token : request.prompt)
            EXPECT_TRUE(token >= 0 && token < FakeModel::kVocabulary);
    EXPECT_EQ(longestTokens(load), 15);
    EXPECT_EQ(allTokens(load), 45);
}

TEST(Round, NotesEveryTokenOfEveryRequestInTime) {
    const auto engine = engineOf();
    const auto sample = runRound(*engine, loadOf(3, 5, 4), false, {});
    ASSERT_TRUE(sample) << sample.error().message;
    ASSERT_EQ(sample->requests.size(), 3u);
    for (const RequestTimes& request : sample->requests) {
        EXPECT_EQ(request.promptTokens, 5);
        ASSERT_EQ(request.tokens.size(), 4u);
        EXPECT_TRUE(std::is_sorted(request.tokens.begin(), request.tokens.end()));
        EXPECT_GE(request.tokens.front(), 0);
    }
    EXPECT_EQ(sample->steps, 4);
    EXPECT_GE(sample->stepSeconds, sample->modelSeconds);
}

TEST(Round, PutsRequestsWithoutDelayIntoOneStep) {
    std::vector<std::size_t> sequences;
    const auto engine = engineOf([&](const StepPlan& plan, const std::atomic<bool>&) -> Status {
        sequences.push_back(plan.sequences.size());
        return Ok{};
    });
    ASSERT_TRUE(runRound(*engine, loadOf(7, 3, 2), false, {}));
    EXPECT_EQ(sequences, (std::vector<std::size_t>{7, 7}));
}

TEST(Round, KeepsToTheArrivalTimesOfATrace) {
    const auto engine = engineOf();
    Load load = loadOf(2, 3, 2);
    load[1].arrivalSeconds = 0.05;
    const auto sample = runRound(*engine, load, false, {});
    ASSERT_TRUE(sample);
    EXPECT_GE(sample->requests[1].tokens.front(), 0.05);
    EXPECT_EQ(sample->requests[1].arrival, 0.05);
}

TEST(Round, AFailedStepIsItsError) {
    const auto engine = engineOf([](const StepPlan&, const std::atomic<bool>&) -> Status {
        return Error{ErrorCode::runtimeFailed, "No memory is left.", {}};
    });
    const auto sample = runRound(*engine, loadOf(2, 3, 2), false, {});
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().message, "No memory is left.");
}

TEST(Round, ARequestThatNeverFitsIsRefused) {
    const auto engine = engineOf();
    const auto sample = runRound(*engine, loadOf(2, 300, 2), false, {});
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().code, ErrorCode::badInput);
}

TEST(Round, StopsWhenCancelled) {
    std::atomic<bool> cancel = false;
    const auto engine = engineOf([&](const StepPlan&, const std::atomic<bool>&) -> Status {
        cancel = true;
        return Ok{};
    });
    const auto sample = runRound(*engine, loadOf(1, 3, 200), cancel, {});
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().code, ErrorCode::cancelled);
    EXPECT_EQ(engine->stats().scheduler.freeBlocks, 64);
}

TEST(Interleaved, TakesTurnsAndLeavesTheFirstRoundOut) {
    const auto a = engineOf();
    const auto b = engineOf();
    std::vector<std::pair<std::size_t, std::int64_t>> order;
    std::vector<std::int64_t> done;
    const Observer observer{.onSample = [&](std::size_t who, std::int64_t round,
                                            const RoundSample&) { order.emplace_back(who, round); },
                            .onRound = [&](std::int64_t rounds) { done.push_back(rounds); }};
    ASSERT_TRUE(runInterleaved({{"a", a.get()}, {"b", b.get()}}, {loadOf(1, 3, 2)}, 3, false, observer));
    EXPECT_EQ(order, (std::vector<std::pair<std::size_t, std::int64_t>>{
                         {0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(done, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Interleaved, TakesGivenLoadsInTurn) {
    const auto engine = engineOf();
    std::vector<std::int64_t> prompts;
    const Observer observer{.onSample = [&](std::size_t, std::int64_t, const RoundSample& sample) {
        prompts.push_back(sample.requests[0].promptTokens);
    }};
    ASSERT_TRUE(
        runInterleaved({{"a", engine.get()}}, {loadOf(1, 2, 1), loadOf(1, 3, 1)}, 3, false, observer));
    EXPECT_EQ(prompts, (std::vector<std::int64_t>{2, 3, 2}));
}

} // namespace
} // namespace workbench::benchmark
