#include "runtime/engine/scheduler.h"

#include <gtest/gtest.h>

#include <numeric>

namespace workbench {
namespace {

using Tokens = std::vector<std::int64_t>;

Scheduler schedulerOf(SchedulerLimits limits, BlockLayout layout) {
    return Scheduler::create(limits, std::move(layout)).value();
}

/// Tokens that no other prompt begins with.
Tokens promptOf(std::int64_t name, std::size_t count) {
    Tokens tokens(count);
    std::iota(tokens.begin(), tokens.end(), name * 1000);
    return tokens;
}

/// "1:0+8 2:4+1!": request 1 computes 8 tokens from position 0, request 2 one from position 4 and gets
/// logits.
std::string textOf(const StepPlan& plan) {
    std::string text;
    for (const StepSequence& sequence : plan.sequences)
        text += (text.empty() ? "" : " ") + std::to_string(sequence.id) + ":" +
                std::to_string(sequence.firstPosition) + "+" + std::to_string(sequence.tokens) +
                (sequence.row >= 0 ? "!" : "");
    return text;
}

/// Plans and carries out one step; every finished sequence gets token 0.
std::string stepOf(Scheduler& scheduler) {
    const StepPlan plan = scheduler.plan();
    const std::string text = textOf(plan);
    scheduler.commit(plan);
    for (const StepSequence& sequence : plan.sequences)
        if (sequence.row >= 0)
            scheduler.append(sequence.id, 0);
    return text;
}

TEST(Scheduler, CutsPromptsAtTheBudgetAndMixesThemWithDecoding) {
    auto scheduler = schedulerOf({.stepTokens = 8}, {4, 100});
    scheduler.add(1, promptOf(1, 5));
    scheduler.add(2, promptOf(2, 14));
    EXPECT_EQ(stepOf(scheduler), "1:0+5! 2:0+3");
    scheduler.add(3, promptOf(3, 2));
    EXPECT_EQ(stepOf(scheduler), "1:5+1! 2:3+7");
    EXPECT_EQ(stepOf(scheduler), "1:6+1! 2:10+4! 3:0+2!");
    EXPECT_EQ(stepOf(scheduler), "1:7+1! 2:14+1! 3:2+1!");
}

TEST(Scheduler, KeepsATokenForEachLaterRequestThatDecodes) {
    auto scheduler = schedulerOf({.stepTokens = 4}, {4, 100});
    scheduler.add(1, promptOf(1, 3));
    scheduler.add(2, promptOf(2, 1));
    EXPECT_EQ(stepOf(scheduler), "1:0+3! 2:0+1!");
    // As after a preemption: the earlier request has much to compute again.
    for (int i = 0; i < 9; ++i)
        scheduler.append(1, 0);
    EXPECT_EQ(stepOf(scheduler), "1:3+3 2:1+1!");
}

TEST(Scheduler, RunsAtMostSoManyRequestsInOrderOfArrival) {
    auto scheduler = schedulerOf({.stepTokens = 8, .runningRequests = 2}, {4, 100});
    for (RequestId id = 1; id <= 3; ++id)
        scheduler.add(id, promptOf(static_cast<std::int64_t>(id), 2));
    EXPECT_EQ(stepOf(scheduler), "1:0+2! 2:0+2!");
    EXPECT_EQ(scheduler.counts().waiting, 1);
    scheduler.remove(1);
    EXPECT_EQ(stepOf(scheduler), "2:2+1! 3:0+2!");
}

TEST(Scheduler, PreemptsTheLatestArrivalAndComputesItAgain) {
    auto scheduler = schedulerOf({.stepTokens = 16}, {4, 4, {0}, false});
    scheduler.add(1, promptOf(1, 8));
    scheduler.add(2, promptOf(2, 7));
    EXPECT_EQ(stepOf(scheduler), "1:0+8! 2:0+7!");
    EXPECT_EQ(stepOf(scheduler), "1:8+1!"); // takes a third block: all of the second's go
    EXPECT_EQ(scheduler.counts().preemptions, 1);
    EXPECT_EQ(stepOf(scheduler), "1:9+1!"); // the second needs two blocks, one is free
    scheduler.remove(1);
    EXPECT_EQ(stepOf(scheduler), "2:0+8!"); // its first new token is computed along
    scheduler.remove(2);
    EXPECT_EQ(scheduler.counts().freeBlocks, 4);
}

TEST(Scheduler, FindsItsOwnBlocksAgainAfterAPreemption) {
    auto scheduler = schedulerOf({.stepTokens = 16}, {4, 5});
    scheduler.add(1, promptOf(1, 8));
    scheduler.add(2, promptOf(2, 12));
    EXPECT_EQ(stepOf(scheduler), "1:0+8! 2:0+8");
    EXPECT_EQ(stepOf(scheduler),
              "1:8+1!"); // of five blocks the third is the first's, the second asks for one more
    EXPECT_EQ(scheduler.counts().preemptions, 1);
    scheduler.remove(1);
    EXPECT_EQ(stepOf(scheduler), "2:8+4!");
    EXPECT_EQ(scheduler.reusedTokens(2), 8);
}

TEST(Scheduler, LetsNoSmallRequestOvertakeALargeOne) {
    auto scheduler = schedulerOf({.stepTokens = 64}, {4, 6});
    scheduler.add(1, promptOf(1, 8));
    EXPECT_EQ(stepOf(scheduler), "1:0+8!");
    scheduler.add(2, promptOf(2, 20));
    scheduler.add(3, promptOf(3, 1));
    EXPECT_EQ(stepOf(scheduler), "1:8+1!");
    scheduler.remove(1);
    EXPECT_EQ(stepOf(scheduler), "2:0+20! 3:0+1!");
}

TEST(Scheduler, SharesThePrefixOfARunningRequest) {
    auto scheduler = schedulerOf({.stepTokens = 64}, {4, 100});
    scheduler.add(1, promptOf(1, 10));
    EXPECT_EQ(stepOf(scheduler), "1:0+10!");
    scheduler.add(2, promptOf(1, 12));
    const StepPlan plan = scheduler.plan();
    EXPECT_EQ(textOf(plan), "1:10+1! 2:8+4!");
    EXPECT_EQ(plan.sequences[0].tables[0][1], plan.sequences[1].tables[0][1]);
    EXPECT_NE(plan.sequences[0].tables[0][2], plan.sequences[1].tables[0][2]);
}

TEST(Scheduler, LaysTokensSideBySide) {
    auto scheduler = schedulerOf({.stepTokens = 64}, {4, 100});
    scheduler.add(1, {5, 6, 7});
    scheduler.add(2, {8, 9});
    const StepPlan plan = scheduler.plan();
    EXPECT_EQ(plan.tokens, (Tokens{5, 6, 7, 8, 9}));
    EXPECT_EQ(plan.positions, (Tokens{0, 1, 2, 0, 1}));
    EXPECT_EQ(plan.rows, (Tokens{2, 4}));
    EXPECT_EQ(plan.sequences[1].firstToken, 3);
}

TEST(Scheduler, PlansAStepAgainThatWasNotCarriedOut) {
    auto scheduler = schedulerOf({.stepTokens = 4}, {4, 100});
    scheduler.add(1, promptOf(1, 6));
    EXPECT_EQ(textOf(scheduler.plan()), "1:0+4");
    EXPECT_EQ(stepOf(scheduler), "1:0+4");
    EXPECT_EQ(stepOf(scheduler), "1:4+2!");
}

TEST(Scheduler, RunsALongPromptThroughAWindowThatIsSmallerThanThePrompt) {
    auto scheduler = schedulerOf({.stepTokens = 4}, {4, 5, {8}});
    ASSERT_TRUE(scheduler.refusal(100, 100).ok());
    scheduler.add(1, promptOf(1, 100));
    for (std::int64_t done = 0; done < 96; done += 4)
        EXPECT_EQ(stepOf(scheduler), "1:" + std::to_string(done) + "+4");
    EXPECT_EQ(stepOf(scheduler), "1:96+4!");
}

TEST(Scheduler, RefusesWhatCanNeverRunAndSaysWhy) {
    const auto scheduler = schedulerOf({.stepTokens = 8, .contextTokens = 50}, {4, 10});
    EXPECT_TRUE(scheduler.refusal(20, 21).ok()); // the last token is not stored
    const auto memory = scheduler.refusal(20, 22);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(
        memory.error().message,
        "The prompt of 20 tokens and up to 22 new ones do not fit into the KV cache, which holds 40 tokens "
        "of one request: shorten the prompt, ask for fewer, or give the cache more memory.");
    const auto context = scheduler.refusal(20, std::numeric_limits<std::int64_t>::max());
    ASSERT_FALSE(context.ok());
    EXPECT_NE(context.error().message.find("context of 50 tokens"), std::string::npos);
    EXPECT_FALSE(scheduler.refusal(0, 1).ok());
}

TEST(Scheduler, NamesTheCacheWhereTheModelHasNoLimit) {
    const auto scheduler = schedulerOf({.stepTokens = 8}, {4, 10});
    const auto refused = scheduler.refusal(2, std::numeric_limits<std::int64_t>::max());
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("the KV cache, which holds 40 tokens"), std::string::npos)
        << refused.error().message;
}

TEST(Scheduler, RefusesLimitsThatLetNothingRun) {
    EXPECT_FALSE(Scheduler::create({.stepTokens = 0}, {4, 10}).ok());
    EXPECT_FALSE(Scheduler::create({.runningRequests = 0}, {4, 10}).ok());
    EXPECT_FALSE(Scheduler::create({}, {4, 0}).ok());
}

} // namespace
} // namespace workbench
