#include "runtime/program/engine_logits.h"
#include "tests/runtime/program/support.h"

#include <ATen/ops/abs.h>

namespace workbench::test {
namespace {

/// Sequences of these lengths side by side, all rows wanted.
TokenBatch batchOf(const std::vector<std::int64_t>& lengths) {
    TokenBatch batch;
    for (const std::int64_t length : lengths)
        for (std::int64_t i = 0; i < length; ++i) {
            batch.rows.push_back(std::ssize(batch.tokens));
            batch.tokens.push_back((i * i + length) % 16);
            batch.positions.push_back(i);
        }
    return batch;
}

TEST(EngineLogits, AreThoseOfAllTokensAtOnce) {
    const std::atomic<bool> cancel = false;
    for (const int window : {0, 6})
        for (const std::vector<std::int64_t>& lengths :
             std::vector<std::vector<std::int64_t>>{{1}, {2}, {40}, {17, 16, 15}, {3, 100, 1, 33, 1, 64}}) {
            LanguageModel model = modelOf(window);
            const TokenBatch batch = batchOf(lengths);
            const auto whole = model.logits(batch);
            const auto found = engineLogits(model, batch, cancel);
            ASSERT_TRUE(whole && found) << (found ? whole.error().message : found.error().message);
            ASSERT_EQ(found->sizes(), whole->sizes());
            EXPECT_LE((*found - *whole).abs().max().item<float>(), 1e-5 * whole->abs().max().item<float>())
                << "window " << window << ", " << lengths.size() << " sequences";
        }
}

TEST(EngineLogits, GivesTheWantedRowsInTheirOrder) {
    const std::atomic<bool> cancel = false;
    LanguageModel model = modelOf(0);
    TokenBatch batch = batchOf({20, 9});
    batch.rows = {28, 3, 3, 0};
    const auto whole = model.logits(batch);
    const auto found = engineLogits(model, batch, cancel);
    ASSERT_TRUE(whole && found);
    EXPECT_LE((*found - *whole).abs().max().item<float>(), 1e-5 * whole->abs().max().item<float>());
}

TEST(EngineLogits, AModelThatCannotUseACacheSaysSo) {
    const std::atomic<bool> cancel = false;
    LanguageModel model = modelOf(0, "aten.cumsum.default(self=%hidden, dim=1)");
    const auto found = engineLogits(model, batchOf({12}), cancel);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::requirementFailed) << found.error().message;
}

TEST(EngineLogits, RefusesASequenceWithoutItsBeginning) {
    const std::atomic<bool> cancel = false;
    LanguageModel model = modelOf(0);
    TokenBatch batch = batchOf({12});
    for (std::int64_t& position : batch.positions)
        position += 3;
    const auto found = engineLogits(model, batch, cancel);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("position 3"), std::string::npos) << found.error().message;
    batch.rows = {99};
    EXPECT_FALSE(engineLogits(model, batch, cancel));
}

TEST(EngineLogits, StopWhenTheyAreCancelled) {
    const std::atomic<bool> cancel = true;
    LanguageModel model = modelOf(0);
    ASSERT_TRUE(model.canUseCache());
    const auto found = engineLogits(model, batchOf({40}), cancel);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::cancelled);
}

} // namespace
} // namespace workbench::test
