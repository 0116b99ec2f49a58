#include "app/diagram/colours.h"
#include "fusion/match/pattern.h"
#include "tests/app/diagram/layered_model.h"

#include <gtest/gtest.h>

#include <set>

namespace workbench {
namespace {

using State = NodeMark::State;

Site siteOf(const std::string& pattern, std::vector<NodeId> nodes) {
    Site site;
    site.pattern = pattern;
    site.verdict = SiteVerdict::applicable;
    site.nodes = std::move(nodes);
    return site;
}

SiteOutcome outcomeOf(SiteOutcome::State state) {
    SiteOutcome outcome;
    outcome.state = state;
    return outcome;
}

TEST(Colours, EveryPatternHasASlotOfItsOwn) {
    std::set<std::int32_t> slots;
    for (const Pattern& pattern : patterns()) {
        EXPECT_TRUE(slots.insert(colourSlot(pattern.name)).second) << pattern.name;
        EXPECT_GE(colourSlot(pattern.name), 0) << pattern.name;
    }
    EXPECT_EQ(colourSlot("no-such-pattern"), -1);
}

TEST(Colours, ANodeOfSeveralSitesShowsTheStrongest) {
    const DrawnModel model = layeredModel({2});
    Analysis analysis;
    analysis.sites = {siteOf("rms-norm", {1, 2}), siteOf("add-rms-norm", {1, 2, 3})};
    const auto marks =
        markCanonical(model.graph, analysis,
                      {outcomeOf(SiteOutcome::State::contained), outcomeOf(SiteOutcome::State::applied)});
    EXPECT_EQ(marks[1], (NodeMark{State::applied, colourSlot("add-rms-norm"), 1}));
    EXPECT_EQ(marks[3].site, 1);
    EXPECT_EQ(marks[0], NodeMark{});
}

TEST(Colours, ANearMissMarksTheNodeThatFailed) {
    const DrawnModel model = layeredModel({2});
    Analysis analysis;
    analysis.sites = {siteOf("rms-norm", {})};
    analysis.sites[0].miss = NoMatch{2, "a mean", "none"};
    const auto marks = markCanonical(model.graph, analysis, {outcomeOf(SiteOutcome::State::refused)});
    EXPECT_EQ(marks[2].state, State::refused);
}

TEST(Colours, ReplacementsHaveTheColourOfTheirSite) {
    Rewritten rewritten{layeredModel({2}).graph, {outcomeOf(SiteOutcome::State::applied)}};
    rewritten.outcomes[0].replacement = {3};
    Analysis analysis;
    analysis.sites = {siteOf("gate-up", {1, 2})};
    EXPECT_EQ(markRewritten(rewritten, analysis)[3].slot, colourSlot("gate-up"));
}

TEST(Colours, AModuleCountsSitesNotNodes) {
    Box box;
    box.nodes = {0, 1, 2, 3};
    const std::int32_t slot = colourSlot("qkv");
    const std::vector<NodeMark> marks = {
        {State::applied, slot, 0}, {State::applied, slot, 0}, {State::offered, slot, 1}, {}};
    EXPECT_EQ(marksOf(box, marks),
              (std::vector<BoxMark>{{slot, State::applied, 1}, {slot, State::offered, 1}}));
}

} // namespace
} // namespace workbench
