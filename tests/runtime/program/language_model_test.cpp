#include "runtime/program/comparison.h"
#include "runtime/program/generation.h"
#include "runtime/program/language_model.h"
#include "tests/runtime/program/support.h"

namespace workbench::test {
namespace {

const std::string kPlain = "%mixed: f32[1, s0, 8] = aten.alias.default(self=%hidden)";
// Tokens meet outside of attention: every hidden state is the sum of those before it.
const std::string kRunningSum = "%mixed: f32[1, s0, 8] = aten.cumsum.default(self=%hidden, dim=1)";

LanguageModel modelOf(const std::string& mix) {
    auto program = compile(languageModelText(mix), languageModelWeights());
    auto model = LanguageModel::create(std::move(*program));
    EXPECT_TRUE(model);
    return std::move(*model);
}

std::string createError(const std::string& text) {
    auto program = compile(text);
    const auto model = LanguageModel::create(std::move(*program));
    return model ? "" : model.error().message;
}

std::vector<std::int64_t> countTo(std::int64_t count) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(i);
    return values;
}

/// Greedy text where every step runs the whole sequence: what a cache must not change.
std::vector<std::int64_t> textWithoutCache(LanguageModel& model, std::vector<std::int64_t> tokens,
                                           int count) {
    std::vector<std::int64_t> text;
    for (int i = 0; i < count; ++i) {
        const auto length = static_cast<std::int64_t>(tokens.size());
        const auto logits = model.logits({tokens, countTo(length), {length - 1}});
        text.push_back(greedyChoices(*logits)->front().token);
        tokens.push_back(text.back());
    }
    return text;
}

TEST(LanguageModel, DecodesWithACacheAsItDoesWithout) {
    LanguageModel model = modelOf(kPlain);
    EXPECT_TRUE(*model.canUseCache());
    const auto text = generate(model, {.prompt = {3, 1, 4}, .maxTokens = 12});
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(text->usedCache);
    EXPECT_EQ(text->tokens, textWithoutCache(model, {3, 1, 4}, 12));
    EXPECT_EQ(text->gaps.size(), 12u);
}

TEST(LanguageModel, SeesThatACacheWouldGiveOtherNumbers) {
    LanguageModel model = modelOf(kRunningSum);
    EXPECT_FALSE(*model.canUseCache());
    const auto text = generate(model, {.prompt = {3, 1, 4}, .maxTokens = 6});
    ASSERT_TRUE(text);
    EXPECT_FALSE(text->usedCache);
    EXPECT_EQ(text->tokens, textWithoutCache(model, {3, 1, 4}, 6));
}

TEST(LanguageModel, KeepsPackedSequencesApart) {
    LanguageModel model = modelOf(kPlain);
    const auto packed = model.logits({{3, 1, 4, 7, 2}, {0, 1, 2, 0, 1}, {2, 4}});
    const auto first = model.logits({{3, 1, 4}, {0, 1, 2}, {2}});
    const auto second = model.logits({{7, 2}, {0, 1}, {1}});
    ASSERT_TRUE(packed && first && second);
    EXPECT_LT(compare(packed->narrow(0, 0, 1), *first, "x")->relativeError, 1e-6);
    EXPECT_LT(compare(packed->narrow(0, 1, 1), *second, "x")->relativeError, 1e-6);
    EXPECT_GT(compare(packed->narrow(0, 0, 1), *second, "x")->relativeError, 1e-3);
}

TEST(LanguageModel, PicksTheWantedRows) {
    LanguageModel model = modelOf(kPlain);
    const auto all = model.logits({{3, 1, 4}, {0, 1, 2}, {0, 1, 2}});
    const auto some = model.logits({{3, 1, 4}, {0, 1, 2}, {2, 0, 2}});
    ASSERT_TRUE(all && some);
    for (const auto& [row, of] : {std::pair{0, 2}, {1, 0}, {2, 2}})
        EXPECT_LT(compare(all->narrow(0, of, 1), some->narrow(0, row, 1), "x")->relativeError, 1e-6);
    EXPECT_EQ(model.logits({{3}, {0}, {}})->size(0), 0);
}

TEST(LanguageModel, RefusesBatchesThatMakeNoSense) {
    LanguageModel model = modelOf(kPlain);
    const auto message = [&](const TokenBatch& batch) { return model.logits(batch).error().message; };
    EXPECT_EQ(message({{}, {}, {}}), "There are no tokens to run.");
    EXPECT_EQ(message({{1, 2}, {0}, {}}), "There are 2 tokens, but 1 positions.");
    EXPECT_EQ(message({{16}, {0}, {}}), "Token 16 is not in the model's vocabulary of 16.");
    EXPECT_EQ(message({{1}, {-1}, {}}), "Position -1 is negative.");
    EXPECT_EQ(message({{1}, {0}, {1}}), "Row 1 of the logits is not one of the 1 tokens.");
}

TEST(LanguageModel, RefusesOtherGraphs) {
    EXPECT_NE(createError("input %x: f32[2]\n%y: f32[2] = aten.neg.default(self=%x)\noutput %y\n")
                  .find("it has an input x"),
              std::string::npos);
    EXPECT_NE(
        createError(
            "input %input_ids: i64[1, s0]\n%y: i64[1, s0] = aten.neg.default(self=%input_ids)\noutput %y\n")
            .find("it has 1 inputs"),
        std::string::npos);
}

TEST(Generation, StopsAtAnEndTokenUnlessToldNotTo) {
    LanguageModel model = modelOf(kPlain);
    const auto text = textWithoutCache(model, {3, 1, 4}, 8);
    const std::int64_t end = text[2];
    const auto first = std::find(text.begin(), text.end(), end) - text.begin();
    const auto stopped = generate(model, {.prompt = {3, 1, 4}, .maxTokens = 8, .eos = {end}});
    ASSERT_TRUE(stopped);
    EXPECT_EQ(stopped->tokens, std::vector<std::int64_t>(text.begin(), text.begin() + first + 1));
    EXPECT_EQ(generate(model, {.prompt = {3, 1, 4}, .maxTokens = 8, .eos = {end}, .ignoreEos = true})->tokens,
              text);
    EXPECT_TRUE(generate(model, {.prompt = {3, 1, 4}, .maxTokens = 0})->tokens.empty());
}

TEST(Generation, TellsEachTokenAtOnceAndStopsWhenCancelled) {
    LanguageModel model = modelOf(kPlain);
    std::atomic<bool> cancel = false;
    std::vector<std::int64_t> told;
    GenerateRequest request{.prompt = {3, 1, 4}, .maxTokens = 8, .cancel = &cancel};
    request.onToken = [&](std::int64_t token) -> Status {
        told.push_back(token);
        cancel = told.size() == 3;
        return Ok{};
    };
    const auto text = generate(model, request);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::cancelled);
    EXPECT_EQ(told, textWithoutCache(model, {3, 1, 4}, 3));
}

} // namespace
} // namespace workbench::test
