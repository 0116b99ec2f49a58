#include "fusion/match/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace workbench {
namespace {

std::ptrdiff_t rank(std::string_view name) {
    const auto all = patterns();
    return std::find_if(all.begin(), all.end(), [&](const Pattern& known) { return known.name == name; }) -
           all.begin();
}

TEST(Patterns, LargerOnesStandBeforeThoseThatTheyContain) {
    for (const Pattern& pattern : patterns())
        for (const std::string_view inner : pattern.contains) {
            EXPECT_NE(findPattern(inner), nullptr) << inner << " in " << pattern.name;
            EXPECT_LT(rank(pattern.name), rank(inner)) << inner << " in " << pattern.name;
        }
}

TEST(Patterns, WhatContainsOthersHasAnOpThatTellsSo) {
    for (const Pattern& pattern : patterns())
        EXPECT_TRUE(pattern.contains.empty() || !pattern.op.empty()) << pattern.name;
}

TEST(Patterns, EachOpBelongsToOnePattern) {
    std::set<std::string_view> ops;
    for (const Pattern& pattern : patterns())
        if (!pattern.op.empty()) {
            EXPECT_TRUE(pattern.op.starts_with("workbench.")) << pattern.name;
            EXPECT_TRUE(ops.insert(pattern.op).second) << pattern.op;
        }
}

} // namespace
} // namespace workbench
