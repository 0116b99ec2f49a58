#include "collected.h"
#include "fake_model.h"
#include "runtime/engine/engine.h"

#include <gtest/gtest.h>

#include <future>
#include <numeric>

namespace workbench {
namespace {

using testing::Collected;
using testing::FakeModel;
using testing::LetterStream;
using Tokens = std::vector<std::int64_t>;

const BlockLayout kLayout{4, 64, {0, 6}};

struct Fixture {
    explicit Fixture(EngineOptions options = {.blocks = kLayout},
                     std::function<Status(const StepPlan&, const std::atomic<bool>&)> onRun = {}) {
        auto model = std::make_unique<FakeModel>(options.blocks);
        model->onRun = std::move(onRun);
        engine = Engine::create(options, std::move(model)).value();
    }
    std::unique_ptr<Engine> engine;
};

/// The greedy text of the fake model, by itself.
Tokens textAfter(Tokens history, std::size_t count) {
    Tokens text;
    while (text.size() < count) {
        const auto logits = FakeModel::logitsAfter(history, kLayout.windows);
        text.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
        history.push_back(text.back());
    }
    return text;
}

/// Holds the engine inside of its first step until it is opened.
class Gate {
public:
    std::function<Status(const StepPlan&, const std::atomic<bool>&)> onRun() {
        return [this](const StepPlan&, const std::atomic<bool>& abort) -> Status {
            if (m_isFirst.exchange(false)) {
                m_reached.set_value();
                while (!m_open && !abort)
                    std::this_thread::yield();
            }
            if (abort)
                return Error{ErrorCode::cancelled, "The run was cancelled.", {}};
            return Ok{};
        };
    }
    void waitUntilReached() { m_reached.get_future().wait(); }
    void open() { m_open = true; }

private:
    std::atomic<bool> m_isFirst = true;
    std::atomic<bool> m_open = false;
    std::promise<void> m_reached;
};

TEST(Engine, GivesTheTextOfASingleRequest) {
    const Fixture fixture;
    Collected out;
    ASSERT_TRUE(fixture.engine->submit(out.watch({.prompt = {1, 2, 3}, .stop = {.maxTokens = 30}})).ok());
    fixture.engine->waitIdle();
    EXPECT_EQ(out.tokens, textAfter({1, 2, 3}, 30));
    ASSERT_EQ(out.completions.size(), 1U);
    EXPECT_EQ(out.completions[0].reason, FinishReason::length);
    EXPECT_EQ(out.completions[0].promptTokens, 3);
    EXPECT_EQ(out.completions[0].newTokens, 30);
}

TEST(Engine, EndsAtEndTokensAndStopIdsAndIncludesThem) {
    const Fixture fixture;
    const Tokens text = textAfter({1, 2, 3}, 30);
    const std::int64_t end = text[5];
    const auto length = std::find(text.begin(), text.end(), end) - text.begin() + 1;
    Collected byEos;
    Collected byStopId;
    Collected ignoring;
    Collected ignoringButStopId;
    const auto submit = [&](Collected& out, StopConditions stop) {
        stop.maxTokens = 30;
        ASSERT_TRUE(fixture.engine->submit(out.watch({.prompt = {1, 2, 3}, .stop = stop})).ok());
    };
    submit(byEos, {.eos = {end}});
    submit(byStopId, {.stopIds = {end}});
    submit(ignoring, {.eos = {end}, .ignoreEos = true});
    submit(ignoringButStopId, {.eos = {end}, .ignoreEos = true, .stopIds = {end}});
    fixture.engine->waitIdle();
    for (const Collected* out : {&byEos, &byStopId, &ignoringButStopId}) {
        EXPECT_EQ(out->tokens, Tokens(text.begin(), text.begin() + length));
        EXPECT_EQ(out->completions.at(0).reason, FinishReason::stop);
    }
    EXPECT_EQ(ignoring.tokens, text);
    EXPECT_EQ(ignoring.completions.at(0).reason, FinishReason::length);
}

TEST(Engine, EndsTheTextBeforeAStopString) {
    const Fixture fixture;
    const Tokens tokens = textAfter({1, 2, 3}, 30);
    std::string text;
    for (const std::int64_t token : tokens)
        text += static_cast<char>('a' + token);
    Collected stopped;
    Collected whole;
    const auto request = [](std::string stop) {
        return GenerationRequest{.prompt = {1, 2, 3},
                                 .stop = {.maxTokens = 30, .stopStrings = {std::move(stop)}},
                                 .text = std::make_unique<LetterStream>()};
    };
    ASSERT_TRUE(fixture.engine->submit(stopped.watch(request(text.substr(10, 3)))).ok());
    ASSERT_TRUE(fixture.engine->submit(whole.watch(request(text.substr(29) + "?"))).ok());
    fixture.engine->waitIdle();
    EXPECT_EQ(stopped.text, text.substr(0, text.find(text.substr(10, 3))));
    EXPECT_EQ(stopped.completions.at(0).reason, FinishReason::stop);
    EXPECT_EQ(whole.text, text + "."); // what was held back comes at the end
    EXPECT_EQ(whole.completions.at(0).reason, FinishReason::length);
}

TEST(Engine, ComputesNothingForNoTokens) {
    const Fixture fixture;
    Collected out;
    ASSERT_TRUE(fixture.engine->submit(out.watch({.prompt = {1}, .stop = {.maxTokens = 0}})).ok());
    fixture.engine->waitIdle();
    EXPECT_TRUE(out.tokens.empty());
    EXPECT_EQ(out.completions.at(0).reason, FinishReason::length);
    EXPECT_EQ(fixture.engine->stats().steps, 0);
}

TEST(Engine, RefusesInOneSentence) {
    const Fixture fixture;
    const auto messageOf = [&](GenerationRequest request) {
        const auto refused = fixture.engine->submit(std::move(request));
        return refused ? std::string() : refused.error().message;
    };
    EXPECT_EQ(messageOf({.prompt = {}}), "The prompt is empty: it must have at least one token.");
    EXPECT_EQ(messageOf({.prompt = {1, 24}}), "Token 24 is not in the model's vocabulary of 24.");
    EXPECT_EQ(messageOf({.prompt = {-1}}), "Token -1 is not in the model's vocabulary of 24.");
    EXPECT_NE(messageOf({.prompt = {1}, .sampling = {.topP = 2}}).find("top-p"), std::string::npos);
    EXPECT_NE(messageOf({.prompt = {1}, .stop = {.maxTokens = -1}}).find("0 or more"), std::string::npos);
    EXPECT_NE(messageOf({.prompt = {1}, .stop = {.maxTokens = 100'000}}).find("KV cache"), std::string::npos);
    EXPECT_NE(messageOf({.prompt = {1}, .stop = {.stopStrings = {"a"}}}).find("tokenizer"),
              std::string::npos);
    EXPECT_EQ(fixture.engine->stats().refused, 7);
}

TEST(Engine, RefusesWhatTheQueueCannotHoldAndTakesItLater) {
    Gate gate;
    const Fixture fixture({.blocks = kLayout, .queuedRequests = 2}, gate.onRun());
    Collected outs[5];
    const auto submit = [&](int i) { return fixture.engine->submit(outs[i].watch({.prompt = {1}})); };
    ASSERT_TRUE(submit(0).ok());
    gate.waitUntilReached();
    ASSERT_TRUE(submit(1).ok());
    ASSERT_TRUE(submit(2).ok());
    const auto refused = submit(3);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::runtimeFailed);
    EXPECT_EQ(refused.error().message, "The queue is full, 2 requests are waiting: try again later.");
    gate.open();
    fixture.engine->waitIdle();
    EXPECT_TRUE(submit(4).ok());
    fixture.engine->waitIdle();
    EXPECT_EQ(outs[4].tokens, textAfter({1}, 16));
}

TEST(Engine, BreaksOffAStepThatNobodyWaitsFor) {
    Gate gate; // opened by the abort alone
    const Fixture fixture({.blocks = kLayout}, gate.onRun());
    Collected out;
    const auto id = fixture.engine->submit(out.watch({.prompt = {1, 2}}));
    gate.waitUntilReached();
    fixture.engine->cancel(*id);
    fixture.engine->waitIdle();
    EXPECT_TRUE(out.tokens.empty());
    EXPECT_EQ(out.completions.at(0).reason, FinishReason::cancelled);
    EXPECT_EQ(fixture.engine->stats().cancelled, 1);
    EXPECT_EQ(fixture.engine->stats().scheduler.freeBlocks, kLayout.blocks);
}

TEST(Engine, FinishesAStepThatOthersWaitFor) {
    Gate gate;
    const Fixture fixture({.blocks = kLayout}, gate.onRun());
    Collected first;
    Collected second;
    const auto id = fixture.engine->submit(first.watch({.prompt = {1, 2}}));
    gate.waitUntilReached();
    ASSERT_TRUE(fixture.engine->submit(second.watch({.prompt = {3}})).ok());
    fixture.engine->cancel(*id + 100); // unknown: nothing happens
    fixture.engine->cancel(*id + 1);   // waits for its first step
    gate.open();
    fixture.engine->waitIdle();
    EXPECT_EQ(first.tokens, textAfter({1, 2}, 16));
    EXPECT_EQ(second.completions.at(0).reason, FinishReason::cancelled);
}

TEST(Engine, CancelsWhatRunsWhenItIsDestroyed) {
    Gate gate;
    Collected running;
    Collected waiting;
    {
        const Fixture fixture({.blocks = kLayout}, gate.onRun());
        ASSERT_TRUE(fixture.engine->submit(running.watch({.prompt = {1}})).ok());
        gate.waitUntilReached();
        ASSERT_TRUE(fixture.engine->submit(waiting.watch({.prompt = {2}})).ok());
    }
    for (const Collected* out : {&running, &waiting})
        EXPECT_EQ(out->completions.at(0).reason, FinishReason::cancelled);
}

TEST(Engine, TakesNothingAfterCloseAndFinishesTheRest) {
    Gate gate;
    const Fixture fixture({.blocks = kLayout}, gate.onRun());
    Collected out;
    ASSERT_TRUE(fixture.engine->submit(out.watch({.prompt = {1}})).ok());
    gate.waitUntilReached();
    fixture.engine->close();
    EXPECT_FALSE(fixture.engine->submit({.prompt = {2}}).ok());
    gate.open();
    fixture.engine->waitIdle();
    EXPECT_EQ(out.tokens, textAfter({1}, 16));
}

TEST(Engine, FailsTheRequestsOfAFailedStepAndGoesOn) {
    std::atomic<bool> fail = true;
    const Fixture fixture({.blocks = kLayout}, [&](const StepPlan&, const std::atomic<bool>&) -> Status {
        if (fail.exchange(false))
            return Error{ErrorCode::runtimeFailed, "No memory is left.", {}};
        return Ok{};
    });
    Collected first;
    ASSERT_TRUE(fixture.engine->submit(first.watch({.prompt = {1, 2, 3, 4, 5}})).ok());
    fixture.engine->waitIdle();
    EXPECT_EQ(first.completions.at(0).reason, FinishReason::failed);
    EXPECT_EQ(first.completions.at(0).error->message, "No memory is left.");
    Collected second; // the failed step's blocks hold nothing that could be reused
    ASSERT_TRUE(fixture.engine->submit(second.watch({.prompt = {1, 2, 3, 4, 5}})).ok());
    fixture.engine->waitIdle();
    EXPECT_EQ(second.tokens, textAfter({1, 2, 3, 4, 5}, 16));
    EXPECT_EQ(second.completions.at(0).reusedTokens, 0);
    EXPECT_EQ(fixture.engine->stats().failed, 1);
}

TEST(Engine, LetsCallbacksSubmitAndCancel) {
    const Fixture fixture;
    Collected follower;
    GenerationRequest request{.prompt = {1}, .stop = {.maxTokens = 100}};
    RequestId id = 0;
    std::promise<RequestId> known;
    auto knownId = known.get_future().share();
    int seen = 0;
    request.onToken = [&, knownId](const GeneratedToken&) {
        if (++seen == 3) {
            fixture.engine->cancel(knownId.get());
            ASSERT_TRUE(fixture.engine->submit(follower.watch({.prompt = {2}})).ok());
        }
    };
    id = *fixture.engine->submit(std::move(request));
    known.set_value(id);
    fixture.engine->waitIdle();
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(follower.tokens, textAfter({2}, 16));
}

TEST(Engine, ReusesThePrefixOfAnEarlierRequest) {
    const Fixture fixture;
    Tokens prompt(20);
    std::iota(prompt.begin(), prompt.end(), 0);
    Collected first;
    Collected second;
    for (Collected* out : {&first, &second}) {
        ASSERT_TRUE(fixture.engine->submit(out->watch({.prompt = prompt})).ok());
        fixture.engine->waitIdle();
    }
    EXPECT_EQ(first.completions.at(0).reusedTokens, 0);
    EXPECT_EQ(second.completions.at(0).reusedTokens, 16);
    EXPECT_EQ(second.tokens, textAfter(prompt, 16));
    EXPECT_EQ(first.tokens, second.tokens);
}

TEST(Engine, CountsWhatItDid) {
    const Fixture fixture;
    Collected outs[2];
    for (Collected& out : outs)
        ASSERT_TRUE(fixture.engine->submit(out.watch({.prompt = {1, 2, 3}, .stop = {.maxTokens = 8}})).ok());
    fixture.engine->waitIdle();
    const EngineStats stats = fixture.engine->stats();
    EXPECT_EQ(stats.finished, 2);
    EXPECT_EQ(stats.newTokens, 16);
    EXPECT_GE(stats.steps, 8);
    EXPECT_EQ(stats.scheduler.waiting, 0);
    EXPECT_EQ(stats.scheduler.running, 0);
    EXPECT_EQ(stats.scheduler.blocks, kLayout.blocks);
    EXPECT_EQ(stats.scheduler.computedTokens, 2 * (3 + 7));
    EXPECT_GT(stats.stepSeconds, stats.modelSeconds);
}

} // namespace
} // namespace workbench
