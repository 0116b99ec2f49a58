#include "runtime/engine/engine.h"
#include "runtime/program/device_runner.h"
#include "runtime/program/engine_logits.h"
#include "runtime/program/generation.h"
#include "tests/runtime/program/support.h"

#include <functional>

// The CPU by a GPU's way: everything but the GPU's kernels and its recording.

namespace workbench::test {
namespace {

using Tokens = std::vector<std::int64_t>;

const Placement kPlain{c10::kCPU, false};

/// Does a step's host side again. Only a GPU can do without it.
class Repeated : public RecordedStep {
public:
    explicit Repeated(std::function<void()> step) : m_step(std::move(step)) {}
    void replay() override { m_step(); }

private:
    std::function<void()> m_step;
};

/// Runs the step at once, as recording does not; its values are then those of the first replay.
struct FakeRecorder {
    std::unique_ptr<RecordedStep> operator()(c10::Device, const std::function<void()>& step) const {
        step();
        return std::make_unique<Repeated>(step);
    }
};

std::unique_ptr<DeviceRunner> runnerOf(LanguageModel& model, Recorder recorder,
                                       std::int64_t bytes = 1'000'000) {
    auto runner = DeviceRunner::create(model, {.blockTokens = 4, .bytes = bytes}, std::move(recorder));
    EXPECT_TRUE(runner) << runner.error().message;
    return std::move(*runner);
}

/// The texts of all prompts, which come at once.
std::vector<Tokens> textsOf(std::unique_ptr<DeviceRunner> runner) {
    const BlockLayout layout = runner->layout();
    auto engine = Engine::create({.limits = {.stepTokens = 32}, .blocks = layout}, std::move(runner)).value();
    const auto all = prompts();
    std::vector<Tokens> texts(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        GenerationRequest request{.prompt = all[i], .stop = {.maxTokens = 15}};
        request.onToken = [&, i](const GeneratedToken& token) { texts[i].push_back(token.sampled.token); };
        EXPECT_TRUE(engine->submit(std::move(request)));
    }
    engine->waitIdle();
    const EngineStats stats = engine->stats();
    EXPECT_EQ(stats.scheduler.freeBlocks, stats.scheduler.blocks);
    return texts;
}

std::vector<Tokens> textsAlone(int window) {
    LanguageModel model = modelOf(window);
    std::vector<Tokens> texts;
    for (const Tokens& prompt : prompts())
        texts.push_back(generate(model, {.prompt = prompt, .maxTokens = 15})->tokens);
    return texts;
}

StepPlan decodePlan(const std::vector<std::vector<BlockId>>& tables, std::size_t sequences,
                    std::int64_t position) {
    StepPlan plan;
    for (std::size_t i = 0; i < sequences; ++i) {
        const auto index = static_cast<std::int64_t>(i);
        plan.tokens.push_back(3 + index);
        plan.positions.push_back(position);
        plan.rows.push_back(index);
        plan.sequences.push_back({.id = i + 1,
                                  .firstToken = index,
                                  .tokens = 1,
                                  .firstPosition = position,
                                  .row = index,
                                  .tables = std::span(tables).subspan(i, 1)});
    }
    return plan;
}

TEST(DeviceRunner, GivesEveryRequestTheTextThatTheCpusOwnWayGives) {
    for (const int window : {0, 6})
        for (const bool records : {false, true}) {
            LanguageModel model = modelOf(window, "aten.alias.default(self=%hidden)", kPlain);
            const auto texts = textsOf(runnerOf(model, records ? Recorder(FakeRecorder{}) : Recorder()));
            EXPECT_EQ(texts, textsAlone(window)) << "window " << window << ", records " << records;
        }
}

TEST(DeviceRunner, StaysRightWhereBlocksRunOut) {
    LanguageModel model = modelOf(0, "aten.alias.default(self=%hidden)", kPlain);
    EXPECT_EQ(textsOf(runnerOf(model, FakeRecorder{}, 4000)), textsAlone(0));
}

TEST(DeviceRunner, RecordsAStepOfASizeTheSecondTimeAndReplaysItFromThenOn) {
    LanguageModel model = modelOf(0, "aten.alias.default(self=%hidden)", kPlain);
    const auto runner = runnerOf(model, FakeRecorder{});
    const std::vector<std::vector<BlockId>> tables{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    const std::atomic<bool> abort = false;
    const std::size_t sizes[] = {3, 4, 3, 4, 1, 2};
    const std::int64_t recorded[] = {0, 1, 1, 1, 1, 1};
    const std::int64_t replays[] = {0, 1, 2, 3, 3, 3};
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        const StepPlan plan = decodePlan(tables, sizes[i], static_cast<std::int64_t>(i));
        auto logits = runner->run(plan, abort);
        ASSERT_TRUE(logits) << logits.error().message;
        EXPECT_EQ(logits->size(), sizes[i] * 16);
        EXPECT_EQ(runner->recordedSteps(), recorded[i]) << i; // three are rounded up to four
        EXPECT_EQ(runner->replays(), replays[i]) << i;
    }
}

TEST(DeviceRunner, PadsAStepWithoutTouchingWhatTheSequencesStore) {
    const std::vector<std::vector<BlockId>> tables{{0, 1}, {2, 3}, {4, 5}};
    const std::atomic<bool> abort = false;
    LanguageModel model = modelOf(0, "aten.alias.default(self=%hidden)", kPlain);
    const auto padded = runnerOf(model, FakeRecorder{});
    const auto plain = runnerOf(model, {});
    for (std::int64_t position = 0; position < 7; ++position) {
        const StepPlan plan = decodePlan(tables, 3, position);
        const auto expected = plain->run(plan, abort);
        const auto actual = padded->run(plan, abort);
        ASSERT_TRUE(expected && actual);
        for (std::size_t i = 0; i < expected->size(); ++i)
            ASSERT_NEAR((*actual)[i], (*expected)[i], 1e-5) << "position " << position;
    }
    EXPECT_GT(padded->replays(), 0);
}

TEST(DeviceRunner, GoesOnNodeByNodeAndTellsWhereAStepCannotBeRecorded) {
    LanguageModel model = modelOf(0, "aten.alias.default(self=%hidden)", kPlain);
    const auto refuses = [](c10::Device, const std::function<void()>&) -> std::unique_ptr<RecordedStep> {
        throw std::runtime_error("operation not permitted when stream is capturing");
    };
    auto runner = runnerOf(model, refuses);
    EXPECT_EQ(runner->note(), "");
    const DeviceRunner& watched = *runner;
    const std::vector<std::vector<BlockId>> tables{{0, 1}};
    const std::atomic<bool> abort = false;
    for (std::int64_t position = 0; position < 4; ++position)
        EXPECT_TRUE(runner->run(decodePlan(tables, 1, position), abort));
    EXPECT_NE(watched.note().find("queued one by one: "), std::string::npos) << watched.note();
    EXPECT_NE(watched.note().find("not permitted when stream is capturing"), std::string::npos);
    EXPECT_EQ(watched.recordedSteps(), 0);
}

TEST(DeviceRunner, RefusesAModelWhoseTokensMeetOutsideOfItsAttention) {
    LanguageModel running = modelOf(0, "aten.cumsum.default(self=%hidden, dim=1)", kPlain);
    const auto runner = DeviceRunner::create(running, {.bytes = 1'000'000}, {});
    ASSERT_FALSE(runner);
    EXPECT_EQ(runner.error().message, "The model cannot decode with a KV cache.");
}

TEST(DeviceRunner, RefusesTokensThatAreNotInTheVocabularyBeforeTheyReachTheDevice) {
    LanguageModel model = modelOf(0, "aten.alias.default(self=%hidden)", kPlain);
    const auto runner = runnerOf(model, FakeRecorder{});
    const std::vector<std::vector<BlockId>> tables{{0, 1}};
    const std::atomic<bool> abort = false;
    for (int i = 0; i < 3; ++i) {
        StepPlan plan = decodePlan(tables, 1, 0);
        plan.tokens[0] = i == 1 ? 16 : 3;
        EXPECT_EQ(runner->run(plan, abort).ok(), i != 1) << i;
    }
}

TEST(DeviceRunner, ProvesTheLogitsOfTheEngine) {
    LanguageModel model = modelOf(6, "aten.alias.default(self=%hidden)", kPlain);
    LanguageModel own = modelOf(6);
    TokenBatch batch;
    for (std::int64_t i = 0; i < 40; ++i) {
        batch.tokens.push_back(i * i % 16);
        batch.positions.push_back(i < 25 ? i : i - 25);
        batch.rows.push_back(i);
    }
    const std::atomic<bool> cancel = false;
    const auto expected = own.logits(batch);
    const auto actual = engineLogits(model, batch, cancel);
    ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().message);
    const auto a = toVector(*expected), b = toVector(*actual);
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], 1e-4);
}

} // namespace
} // namespace workbench::test
