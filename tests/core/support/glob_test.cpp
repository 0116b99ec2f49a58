#include "core/support/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace workbench {
namespace {

TEST(Glob, PlainTextIsTheWholeText) {
    EXPECT_TRUE(globMatches("rope", "rope"));
    EXPECT_FALSE(globMatches("rope", "qk-norm-rope"));
    EXPECT_FALSE(globMatches("rope", "rope@model"));
    EXPECT_TRUE(globMatches("", ""));
    EXPECT_FALSE(globMatches("", "a"));
}

TEST(Glob, AStarCrossesDots) {
    EXPECT_TRUE(globMatches("qkv@model.layers.1.*", "qkv@model.layers.1.self_attn"));
    EXPECT_FALSE(globMatches("qkv@model.layers.1.*", "qkv@model.layers.11.self_attn"));
    EXPECT_TRUE(globMatches("*norm*", "qk-norm-rope"));
    EXPECT_TRUE(globMatches("*layers.?.mlp", "gate-up@model.layers.7.mlp"));
    EXPECT_FALSE(globMatches("*layers.?.mlp", "gate-up@model.layers.17.mlp"));
}

TEST(Glob, StarsAreRetried) {
    EXPECT_TRUE(globMatches("*ab*abc", "ab.ab.abc"));
    EXPECT_TRUE(globMatches("**", ""));
    EXPECT_FALSE(globMatches("a*b", "a.b.c"));
}

TEST(Glob, BracketsAreThemselves) {
    EXPECT_TRUE(globMatches("a[0]", "a[0]"));
    EXPECT_FALSE(globMatches("a[0]", "a0"));
}

TEST(Glob, ManyStarsStayFast) {
    std::string glob;
    for (int i = 0; i < 50; ++i)
        glob += "*a";
    EXPECT_FALSE(globMatches(glob + "b", std::string(5000, 'a')));
}

} // namespace
} // namespace workbench
