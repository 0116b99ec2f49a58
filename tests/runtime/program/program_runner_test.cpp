#include "runtime/engine/engine.h"
#include "runtime/program/generation.h"
#include "runtime/program/program_runner.h"
#include "tests/runtime/program/support.h"

#include <algorithm>
#include <functional>

namespace workbench::test {
namespace {

using Tokens = std::vector<std::int64_t>;

/// All prompts at once through an engine over blocks of 4 tokens.
std::vector<Tokens> together(LanguageModel& model, std::int64_t kvBytes, EngineStats& stats) {
    auto runner = ProgramRunner::create(model, {.blockTokens = 4, .bytes = kvBytes});
    EXPECT_TRUE(runner) << runner.error().message;
    const BlockLayout layout = (*runner)->layout();
    auto engine =
        Engine::create({.limits = {.stepTokens = 32}, .blocks = layout}, std::move(*runner)).value();
    std::vector<Tokens> texts(prompts().size());
    std::function<bool(std::size_t)> submitOther;
    // The others come with the first one's first token: however fast the machine is, they grow together.
    const auto submit = [&](std::size_t i) {
        GenerationRequest request{.prompt = prompts()[i], .stop = {.maxTokens = 15}};
        request.onToken = [&, i](const GeneratedToken& token) {
            texts[i].push_back(token.sampled.token);
            const std::size_t others = i == 0 && texts[0].size() == 1 ? texts.size() : 0;
            for (std::size_t other = 1; other < others; ++other)
                EXPECT_TRUE(submitOther(other));
        };
        return engine->submit(std::move(request)).ok();
    };
    submitOther = submit;
    EXPECT_TRUE(submit(0));
    engine->waitIdle();
    stats = engine->stats();
    EXPECT_EQ(stats.scheduler.freeBlocks, stats.scheduler.blocks);
    return texts;
}

TEST(ProgramRunner, GivesEveryRequestTheTextThatItGetsAlone) {
    for (const int window : {0, 6}) {
        LanguageModel model = modelOf(window);
        for (const std::int64_t kvBytes : {1'000'000, 4000}) {
            EngineStats stats;
            const auto texts = together(model, kvBytes, stats);
            for (std::size_t i = 0; i < texts.size(); ++i)
                EXPECT_EQ(texts[i], generate(model, {.prompt = prompts()[i], .maxTokens = 15})->tokens)
                    << "prompt " << i << ", window " << window;
            EXPECT_GT(stats.scheduler.reusedTokens, 0);
            // A window frees its old blocks: then so few may do.
            if (window == 0 || kvBytes > 4000) {
                EXPECT_EQ(stats.scheduler.preemptions > 0, kvBytes == 4000) << "window " << window;
            }
        }
    }
}

TEST(ProgramRunner, DividesItsBytesIntoBlocks) {
    LanguageModel model = modelOf(0);
    // Keys and values of 2 heads of width 4 in float32, 4 tokens a block: 256 bytes.
    const auto runner = ProgramRunner::create(model, {.blockTokens = 4, .bytes = 1000});
    ASSERT_TRUE(runner);
    EXPECT_EQ((*runner)->layout().blocks, 3);
    EXPECT_EQ((*runner)->layout().windows, (std::vector<std::int64_t>{0}));
    LanguageModel windowed = modelOf(6);
    EXPECT_EQ((*ProgramRunner::create(windowed, {.bytes = 100'000}))->layout().windows,
              (std::vector<std::int64_t>{6}));
}

TEST(ProgramRunner, RefusesAModelWithoutACacheAndACacheWithoutRoom) {
    LanguageModel running = modelOf(0, "aten.cumsum.default(self=%hidden, dim=1)");
    EXPECT_FALSE(ProgramRunner::create(running, {.bytes = 1'000'000}));
    LanguageModel model = modelOf(0);
    const auto tiny = ProgramRunner::create(model, {.blockTokens = 4, .bytes = 255});
    ASSERT_FALSE(tiny);
    EXPECT_EQ(tiny.error().message,
              "The KV cache's 255 bytes hold no block of 4 tokens, which needs 256: give it more memory.");
}

} // namespace
} // namespace workbench::test
