#include "core/support/words.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, CutsAtBlanks) {
    EXPECT_EQ(splitWords("  ssh  gpubox\tworkbench-worker ").value(),
              (Words{"ssh", "gpubox", "workbench-worker"}));
}

TEST(SplitWords, KeepsQuotedBlanksAndEmptyWords) {
    EXPECT_EQ(splitWords(R"(a "b c" 'd "e"' "" x"y z"w)").value(),
              (Words{"a", "b c", "d \"e\"", "", "xy zw"}));
}

TEST(SplitWords, TakesTheCharacterAfterABackslash) {
    EXPECT_EQ(splitWords(R"(a\ b "c\"d" 'e\f')").value(), (Words{"a b", "c\"d", "e\\f"}));
}

TEST(SplitWords, ExpandsNothing) {
    EXPECT_EQ(splitWords("echo $HOME *;ls").value(), (Words{"echo", "$HOME", "*;ls"}));
}

TEST(SplitWords, RefusesAnOpenQuoteATrailingBackslashAndNothing) {
    for (const char* broken : {"a 'b", "a \"b", "a\\", "", "   "}) {
        const auto words = splitWords(broken);
        ASSERT_FALSE(words.ok()) << broken;
        EXPECT_EQ(words.error().code, ErrorCode::usage);
    }
}

} // namespace
} // namespace workbench
