#include "app/session/site_list.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace workbench {
namespace {

TEST(LayerOf, IsTheFirstNumberOfThePath) {
    EXPECT_EQ(layerOf("model.layers.12.mlp.experts.3"), 12);
    EXPECT_EQ(layerOf("7"), 7);
    EXPECT_EQ(layerOf("model.norm2"), std::nullopt);
    EXPECT_EQ(layerOf(""), std::nullopt);
}

TEST(LayerRanges, AreWrittenAsNumbersAndRanges) {
    const auto range = LayerRange::parse(" 0-3, 10,12 - 13 ");
    ASSERT_TRUE(range.ok()) << range.error().message;
    for (const std::int64_t inside : {0, 3, 10, 12, 13})
        EXPECT_TRUE(range->holds(inside)) << inside;
    for (const std::int64_t outside : {4, 11, 14})
        EXPECT_FALSE(range->holds(outside)) << outside;
    EXPECT_FALSE(range->holds(std::nullopt));
}

TEST(LayerRanges, NothingWrittenHoldsEverything) {
    const auto range = LayerRange::parse("  ");
    ASSERT_TRUE(range.ok());
    EXPECT_TRUE(range->holdsAll());
    EXPECT_TRUE(range->holds(std::nullopt));
}

TEST(LayerRanges, SayWhatIsWrong) {
    for (const char* text : {"x", "3-1", "1,", "-2", "1-2-3"}) {
        const auto range = LayerRange::parse(text);
        ASSERT_FALSE(range.ok()) << text;
        EXPECT_EQ(range.error().code, ErrorCode::usage);
    }
}

TEST(Precedes, CountsNumbersAsNumbers) {
    std::vector<std::string> paths{"layers.10.mlp", "layers.2.mlp", "layers.2", "embed", "layers.2.attn"};
    std::sort(paths.begin(), paths.end(), precedes);
    EXPECT_EQ(paths, (std::vector<std::string>{"embed", "layers.2", "layers.2.attn", "layers.2.mlp",
                                               "layers.10.mlp"}));
    EXPECT_FALSE(precedes("a.1", "a.1"));
}

TEST(StateReason, TellsTheOtherSiteAndTheUsersWords) {
    Site site;
    SiteOutcome outcome;
    EXPECT_EQ(stateReason({}, site, outcome, ""), "");
    outcome.state = SiteOutcome::State::contained;
    outcome.with = "add-rms-norm@norm";
    EXPECT_EQ(stateReason({}, site, outcome, "later"), "inside add-rms-norm@norm; later");
    site.miss = NoMatch{kNone, "a sum", "a product"};
    EXPECT_EQ(stateReason({}, site, {}, ""), "expected a sum, found a product");
}

} // namespace
} // namespace workbench
