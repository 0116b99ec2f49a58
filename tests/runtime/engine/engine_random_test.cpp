#include "collected.h"
#include "fake_model.h"
#include "runtime/engine/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <random>
#include <thread>

namespace workbench {
namespace {

using testing::Collected;
using testing::FakeModel;
using Tokens = std::vector<std::int64_t>;

struct Scenario {
    const char* name;
    SchedulerLimits limits;
    BlockLayout blocks;
};

/// A request with what it must give.
struct Planned {
    Tokens prompt;
    SamplingParams sampling;
    std::int64_t maxTokens = 0;
    bool cancel = false;
    Collected out;
};

SamplingParams samplingOf(std::mt19937_64& random) {
    SamplingParams params;
    if (random() % 3 == 0)
        return params;
    params.temperature = 0.7;
    params.topK = static_cast<std::int64_t>(random() % 10);
    params.topP = random() % 2 ? 0.9 : 1;
    params.repetitionPenalty = random() % 2 ? 1.2 : 1;
    params.frequencyPenalty = random() % 2 ? 0.3 : 0;
    params.seed = random();
    return params;
}

/// Prompts begin with one of a few texts, so that they share blocks.
std::list<Planned> plannedFor(std::mt19937_64& random, int count) {
    std::list<Planned> all;
    while (count-- > 0) {
        Planned one;
        const std::uint64_t text = random() % 4;
        const std::size_t shared = random() % 40;
        for (std::size_t i = 0; i < shared; ++i)
            one.prompt.push_back(static_cast<std::int64_t>((text * 7 + i * i) % FakeModel::kVocabulary));
        for (std::size_t i = random() % 12 + 1; i > 0; --i)
            one.prompt.push_back(static_cast<std::int64_t>(random() % FakeModel::kVocabulary));
        one.sampling = samplingOf(random);
        one.maxTokens = static_cast<std::int64_t>(random() % 25);
        one.cancel = random() % 5 == 0;
        all.push_back(std::move(one));
    }
    return all;
}

/// The same request by itself: sampled from logits that never saw a block.
Tokens alone(const Planned& request, const std::vector<std::int64_t>& windows) {
    Sampler sampler(request.sampling, request.prompt, 0);
    Tokens history = request.prompt;
    Tokens text;
    while (std::ssize(text) < request.maxTokens) {
        text.push_back(sampler.sample(FakeModel::logitsAfter(history, windows))->token);
        history.push_back(text.back());
    }
    return text;
}

/// Holds the model back while few requests are on their way: it is much faster than the threads that submit.
class Crowd {
public:
    explicit Crowd(int total) : m_total(total) {}

    std::function<Status(const StepPlan&, const std::atomic<bool>&)> onRun() {
        return [this](const StepPlan&, const std::atomic<bool>&) -> Status {
            std::unique_lock lock(m_mutex);
            m_submits.wait(lock, [this] { return m_submitted == m_total || m_submitted - m_finished >= 12; });
            return Ok{};
        };
    }
    GenerationRequest count(GenerationRequest request) {
        const std::lock_guard lock(m_mutex);
        ++m_submitted;
        m_submits.notify_one();
        request.onFinish = [this, then = std::move(request.onFinish)](const Completion& completion) {
            then(completion);
            const std::lock_guard finishLock(m_mutex);
            ++m_finished;
        };
        return request;
    }

private:
    const int m_total;
    std::mutex m_mutex;
    std::condition_variable m_submits;
    int m_submitted = 0;
    int m_finished = 0;
};

void submitAll(Engine& engine, Crowd& crowd, std::list<Planned>& requests, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<RequestId> toCancel;
    for (Planned& request : requests) {
        const auto id =
            engine.submit(crowd.count(request.out.watch({.prompt = request.prompt,
                                                         .sampling = request.sampling,
                                                         .stop = {.maxTokens = request.maxTokens}})));
        ASSERT_TRUE(id.ok()) << id.error().message;
        if (request.cancel)
            toCancel.push_back(*id);
        if (!toCancel.empty() && random() % 2) {
            engine.cancel(toCancel.back());
            toCancel.pop_back();
        }
    }
    for (const RequestId id : toCancel)
        engine.cancel(id);
}

void checkAll(const std::list<Planned>& requests, const std::vector<std::int64_t>& windows) {
    for (const Planned& request : requests) {
        const Tokens wanted = alone(request, windows);
        ASSERT_EQ(request.out.completions.size(), 1U);
        const Completion& end = request.out.completions[0];
        if (end.error)
            FAIL() << end.error->message;
        if (end.reason == FinishReason::cancelled) {
            EXPECT_TRUE(request.cancel);
            ASSERT_LE(request.out.tokens.size(), wanted.size());
            EXPECT_TRUE(std::equal(request.out.tokens.begin(), request.out.tokens.end(), wanted.begin()));
        } else {
            EXPECT_EQ(request.out.tokens, wanted);
        }
    }
}

/// Several threads submit and cancel; what happened is added to `total`.
void runScenario(const Scenario& scenario, std::uint64_t seed, EngineStats& total) {
    Crowd crowd(75);
    auto model = std::make_unique<FakeModel>(scenario.blocks);
    model->onRun = crowd.onRun();
    auto engine =
        Engine::create({.limits = scenario.limits, .blocks = scenario.blocks}, std::move(model)).value();
    std::mt19937_64 random(seed);
    std::list<std::list<Planned>> groups;
    std::list<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        auto& requests = groups.emplace_back(plannedFor(random, 25));
        threads.emplace_back([&engine, &crowd, &requests, threadSeed = random()] {
            submitAll(*engine, crowd, requests, threadSeed);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    engine->waitIdle();
    const EngineStats stats = engine->stats();
    EXPECT_EQ(stats.scheduler.freeBlocks, scenario.blocks.blocks) << "blocks are lost";
    EXPECT_EQ(stats.finished + stats.cancelled, 75);
    for (const auto& requests : groups)
        checkAll(requests, scenario.blocks.windows);
    total.scheduler.preemptions += stats.scheduler.preemptions;
    total.scheduler.reusedTokens += stats.scheduler.reusedTokens;
    total.cancelled += stats.cancelled;
}

TEST(EngineAtRandom, GivesEveryRequestTheTextThatItGetsAlone) {
    const Scenario scenarios[]{
        {"roomy", {.stepTokens = 64}, {4, 2000, {0}}},
        {"tight blocks", {.stepTokens = 32, .runningRequests = 16}, {4, 40, {0}}},
        {"small steps", {.stepTokens = 5, .runningRequests = 4}, {3, 60, {0}}},
        {"windows", {.stepTokens = 24}, {4, 70, {0, 6}}},
        {"windows alone", {.stepTokens = 16}, {4, 30, {5, 9}}},
        {"no reuse", {.stepTokens = 32}, {4, 40, {0}, false}},
        {"one token per block", {.stepTokens = 16}, {1, 200, {0, 3}}},
    };
    for (const Scenario& scenario : scenarios) {
        EngineStats total;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            SCOPED_TRACE(std::string(scenario.name) + ", seed " + std::to_string(seed));
            runScenario(scenario, seed, total);
        }
        // Without these the test would show little.
        EXPECT_GT(total.cancelled, 0) << scenario.name;
        EXPECT_EQ(total.scheduler.reusedTokens > 0, scenario.blocks.reusePrefixes) << scenario.name;
        if (std::string(scenario.name) == "tight blocks" || !scenario.blocks.reusePrefixes) {
            EXPECT_GT(total.scheduler.preemptions, 0) << scenario.name;
        }
    }
}

} // namespace
} // namespace workbench
