#include "runtime/engine/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace workbench {
namespace {

TEST(StopMatcher, HoldsBackWhatMayBeAStopString) {
    StopMatcher matcher({"</s>"});
    EXPECT_EQ(matcher.push("one <"), "one ");
    EXPECT_EQ(matcher.push("/"), "");
    EXPECT_EQ(matcher.push("b>"), "</b>");
    EXPECT_EQ(matcher.push("<</s"), "<");
    EXPECT_EQ(matcher.push("> two"), "");
    EXPECT_TRUE(matcher.stopped());
    EXPECT_EQ(matcher.push("three"), "");
    EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, GivesWhatItHeldWhenTheTextEnds) {
    StopMatcher matcher({"stop"});
    EXPECT_EQ(matcher.push("do not sto"), "do not ");
    EXPECT_EQ(matcher.finish(), "sto");
    EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, FindsABeginningInsideOfAFailedOne) {
    StopMatcher matcher({"aab"});
    EXPECT_EQ(matcher.push("aa"), "");
    EXPECT_EQ(matcher.push("a"), "a");
    EXPECT_EQ(matcher.push("b"), "");
    EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcher, TakesTheStopStringThatEndsFirstAndOfThoseTheLongest) {
    StopMatcher first({"bcdef", "cd"});
    EXPECT_EQ(first.push("abcdef"), "ab");
    StopMatcher longest({"cd", "bcd"});
    EXPECT_EQ(longest.push("abcdef"), "a");
}

TEST(StopMatcher, PassesEverythingWithoutStopStrings) {
    StopMatcher matcher({""});
    EXPECT_EQ(matcher.push("anything"), "anything");
    EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, FindsStopStringsOfSeveralBytesPerCharacter) {
    StopMatcher matcher({"ü"});
    EXPECT_EQ(matcher.push("ö"), "ö"); // equal first bytes, but the piece is whole
    EXPECT_EQ(matcher.push("zurück"), "zur");
    EXPECT_TRUE(matcher.stopped());
}

/// The text before the stop string that ends first, by trying every end.
std::string cutAtFirstStop(const std::string& text, const std::vector<std::string>& stops) {
    for (std::size_t end = 0; end <= text.size(); ++end) {
        std::size_t longest = 0;
        for (const std::string& stop : stops)
            if (text.substr(0, end).ends_with(stop))
                longest = std::max(longest, stop.size());
        if (longest > 0)
            return text.substr(0, end - longest);
    }
    return text;
}

TEST(StopMatcher, GivesOneTextHoweverItIsCut) {
    std::mt19937 random(1);
    const auto word = [&](std::size_t size) {
        std::string text;
        while (text.size() < size)
            text += "ab"[random() % 2];
        return text;
    };
    int stopped = 0;
    for (int i = 0; i < 3000; ++i) {
        const std::vector<std::string> stops{word(1 + random() % 7), word(4 + random() % 6)};
        const std::string text = word(random() % 30);
        StopMatcher matcher(stops);
        std::string shown;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t size = 1 + random() % 5;
            shown += matcher.push(std::string_view(text).substr(at, size));
            ASSERT_TRUE(cutAtFirstStop(text, stops).starts_with(shown))
                << text; // nothing shown is taken back
            at += size;
        }
        shown += matcher.finish();
        ASSERT_EQ(shown, cutAtFirstStop(text, stops)) << text << ' ' << stops[0] << ' ' << stops[1];
        stopped += matcher.stopped();
    }
    EXPECT_GT(stopped, 500);
    EXPECT_LT(stopped, 2900);
}

} // namespace
} // namespace workbench
