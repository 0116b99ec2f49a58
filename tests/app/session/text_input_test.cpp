#include "app/session/text_input.h"
#include "app/session/verify_steps.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

namespace workbench {
namespace {

using Tokens = std::vector<std::int64_t>;

/// 1, which begins a text, then 10, 11, ...
Tokens textOf(std::int64_t own) {
    Tokens tokens(static_cast<std::size_t>(own) + 1);
    std::iota(tokens.begin() + 1, tokens.end(), 10);
    tokens.front() = 1;
    return tokens;
}

TEST(SequencesOf, BeginsEachSequenceAsTheTextBegins) {
    const TokenInput input = sequencesOf(textOf(7), 1, 4);
    EXPECT_EQ(input.lengths, (Tokens{4, 4, 2}));
    EXPECT_EQ(input.tokens, (Tokens{1, 10, 11, 12, 1, 13, 14, 15, 1, 16}));
    EXPECT_EQ(input.positions, (Tokens{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST(SequencesOf, CutsATextThatBeginsWithNothingOfTheTokenizer) {
    const TokenInput input = sequencesOf({5, 6, 7}, 0, 2);
    EXPECT_EQ(input.lengths, (Tokens{2, 1}));
    EXPECT_EQ(input.tokens, (Tokens{5, 6, 7}));
}

TEST(SequencesOf, Takes2048TokensInSequencesOf512) {
    for (const std::int64_t context : {0, 8192}) {
        const TokenInput input = sequencesOf(textOf(5000), 1, context);
        EXPECT_EQ(input.lengths, (Tokens{512, 512, 512, 512}));
        EXPECT_EQ(input.tokens.back(), 10 + 4 * 511 - 1);
    }
    EXPECT_EQ(sequencesOf(textOf(5000), 1, 1000).lengths, (Tokens{512, 512, 512, 512}));
    // Sequences of 500 fill 2,048 with a fifth one of 48.
    EXPECT_EQ(sequencesOf(textOf(5000), 1, 500).lengths, (Tokens{500, 500, 500, 500, 48}));
}

TEST(SequencesOf, StaysWithinAContextThatHasNoRoomForMore) {
    EXPECT_EQ(sequencesOf(textOf(3), 1, 1).lengths, (Tokens{1, 1, 1, 1}));
    EXPECT_EQ(sequencesOf(textOf(3), 1, 2).tokens, (Tokens{1, 10, 1, 11, 1, 12}));
}

TEST(NextTokens, EndWithTheirSequence) {
    const TokenInput input = sequencesOf(textOf(4), 1, 3); // 1 10 11, 1 12 13
    ASSERT_EQ(input.lengths, (Tokens{3, 3}));
    const auto next = nextTokens(input, {0, 1, 2, 3, 5});
    ASSERT_EQ(next.size(), 5u);
    EXPECT_EQ(next[0], 10);
    EXPECT_EQ(next[1], 11);
    EXPECT_FALSE(next[2]); // the other sequence begins there
    EXPECT_EQ(next[3], 12);
    EXPECT_FALSE(next[4]);
}

/// A model whose tokenizer is fake_python.py, which begins a text with 1.
class TextInputTest : public TemporaryFolder {
protected:
    TextInputTest() {
        ::setenv("WORKBENCH_PYTHON", WORKBENCH_FAKE_PYTHON, 1);
        ::setenv("FAKE_TRACER_LOG", (folder() / "log").c_str(), 1);
        ::setenv("FAKE_TRACER", "begins-texts", 1);
    }
    ~TextInputTest() override {
        ::unsetenv("WORKBENCH_PYTHON");
        ::unsetenv("FAKE_TRACER");
    }

    Result<TokenInput> tokensOf(const std::string& text) {
        writeFile("text.txt", text);
        return tokensOfText(session("/model"), folder() / "text.txt", 3, {});
    }
    Session session(const char* directory) const {
        auto model = std::make_shared<TracedModel>();
        model->directory = directory;
        return Session::of(model, {}, {"", "/resources", folder()});
    }
    static std::string messageOf(const Result<TokenInput>& input) {
        return input ? "" : input.error().message;
    }
};

TEST_F(TextInputTest, FindsWhatTheTokenizerBeginsATextWith) {
    const auto input = tokensOf("abc");
    ASSERT_TRUE(input) << input.error().message;
    EXPECT_EQ(input->tokens, (Tokens{1, 'a', 'b', 1, 'c'}));
    EXPECT_EQ(input->lengths, (Tokens{3, 2}));
}

TEST_F(TextInputTest, RefusesWhatIsNoText) {
    EXPECT_NE(messageOf(tokensOf("")).find("text.txt has no tokens"), std::string::npos);
    EXPECT_NE(messageOf(tokensOf("caf\xe9")).find("is not UTF-8"), std::string::npos);
    EXPECT_FALSE(tokensOfText(session("/model"), folder() / "nowhere.txt", 0, {}));
    EXPECT_NE(messageOf(tokensOfText(session(""), folder() / "text.txt", 0, {})).find("needs a tokenizer"),
              std::string::npos);
}

} // namespace
} // namespace workbench
