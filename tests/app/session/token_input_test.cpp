#include "app/session/token_input.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

using Ids = std::vector<std::int64_t>;

class ReadTokens : public TemporaryFolder {
protected:
    /// A file of its own for each text.
    std::string fileWith(const std::string& text) {
        const std::string name = "tokens-" + std::to_string(++m_files) + ".txt";
        writeFile(name, text);
        return folder() / name;
    }

private:
    int m_files = 0;
};

TEST_F(ReadTokens, IdsOnTheCommandLineAreOneSequence) {
    const auto input = readTokens("5,17, 3", 20);
    ASSERT_TRUE(input.ok());
    EXPECT_EQ(input->tokens, (Ids{5, 17, 3}));
    EXPECT_EQ(input->positions, (Ids{0, 1, 2}));
    EXPECT_EQ(input->lengths, (Ids{3}));
}

TEST_F(ReadTokens, AFileHasASequenceALineAndPositionsRestart) {
    const auto input = readTokens(fileWith("1, 2 3\n\n4\n"), 20);
    ASSERT_TRUE(input.ok()) << input.error().message;
    EXPECT_EQ(input->tokens, (Ids{1, 2, 3, 4}));
    EXPECT_EQ(input->positions, (Ids{0, 1, 2, 0}));
    EXPECT_EQ(input->lengths, (Ids{3, 1}));
}

TEST_F(ReadTokens, WrongIdsAreNamed) {
    for (const auto& [text, word] :
         std::vector<std::pair<std::string, std::string>>{{"5,20", "20"},
                                                          {"5,,3", "two commas"},
                                                          {fileWith("1,x2\n"), "x2"},
                                                          {fileWith("-1\n"), "-1"},
                                                          {"/nowhere/tokens", "/nowhere/tokens"},
                                                          {fileWith(""), "are none"},
                                                          {",", "are none"},
                                                          {"-5,3", "-5"},
                                                          {"99999999999999999999", "99999999999999999999"}}) {
        const auto input = readTokens(text, 20);
        ASSERT_FALSE(input.ok()) << text;
        EXPECT_EQ(input.error().code, ErrorCode::badInput);
        EXPECT_NE(input.error().message.find(word), std::string::npos) << input.error().message;
    }
}

TEST(DefaultTokens, AreTwoSequencesLongerThanTheWindow) {
    const TokenInput input = defaultTokens(64, 211, 0, 24).value();
    ASSERT_EQ(input.lengths.size(), 2u);
    for (const std::int64_t length : input.lengths)
        EXPECT_GT(length, 64);
    EXPECT_EQ(input.positions[static_cast<std::size_t>(input.lengths[0])], 0);
    EXPECT_TRUE(
        std::all_of(input.tokens.begin(), input.tokens.end(), [](auto id) { return id >= 0 && id < 211; }));
    EXPECT_EQ(input.tokens, defaultTokens(64, 211, 0, 24).value().tokens);
}

TEST(DefaultTokens, StayWithinTheContext) {
    const TokenInput input = defaultTokens(0, 211, 16, 24).value();
    EXPECT_EQ(input.lengths, (Ids{16, 16}));
}

TEST(DefaultTokens, NeedAVocabularyAndAWindowThatCanBeRun) {
    const auto nothing = defaultTokens(0, 0, 16, 24);
    ASSERT_FALSE(nothing.ok());
    EXPECT_NE(nothing.error().message.find("vocabulary"), std::string::npos);
    const auto endless = defaultTokens(std::int64_t{1} << 62, 211, 0, 24);
    ASSERT_FALSE(endless.ok());
    EXPECT_NE(endless.error().message.find("--tokens"), std::string::npos);
    EXPECT_TRUE(defaultTokens(std::int64_t{1} << 62, 211, 64, 24).ok()) << "the context is short enough";
}

TEST(CheckContext, ASequenceMayFillItButNotExceedIt) {
    TokenInput input;
    input.add({1, 2, 3});
    input.add({1, 2, 3, 4});
    EXPECT_TRUE(checkContext(input, 4).ok());
    EXPECT_TRUE(checkContext(input, 0).ok()) << "not known";
    const auto longer = checkContext(input, 3);
    ASSERT_FALSE(longer.ok());
    EXPECT_EQ(longer.error().code, ErrorCode::badInput);
    EXPECT_NE(longer.error().message.find("context"), std::string::npos);
}

} // namespace
} // namespace workbench
