#include "app/session/decisions.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

Site site(const std::string& pattern, const std::string& module,
          SiteVerdict verdict = SiteVerdict::applicable) {
    Site made;
    made.id = pattern + "@" + module;
    made.pattern = pattern;
    made.module = module;
    made.verdict = verdict;
    if (verdict == SiteVerdict::refused)
        made.miss = NoMatch{kNone, "the mean over the last dim", "dim=[1]"};
    return made;
}

Analysis analysis() {
    Analysis made;
    made.sites = {site("attention", "layers.0.attn", SiteVerdict::present),
                  site("add-rms-norm", "norm"),
                  site("qkv", "layers.0.attn"),
                  site("qkv", "layers.1.attn"),
                  site("rms-norm", "norm"),
                  site("gate-up", "layers.0.mlp", SiteVerdict::refused)};
    return made;
}

DecisionRule apply(std::string what) {
    return {Decision::apply, std::move(what)};
}
DecisionRule reject(std::string what) {
    return {Decision::reject, std::move(what)};
}

TEST(Decide, ByPatternSiteAndGlobTheLaterWins) {
    const auto decisions =
        decide(analysis(), {}, {apply("*"), reject("qkv"), apply("qkv@layers.1.*"), reject("rms-norm@norm")});
    ASSERT_TRUE(decisions.ok()) << decisions.error().message;
    EXPECT_EQ(*decisions, (Decisions{{"add-rms-norm@norm", Decision::apply},
                                     {"qkv@layers.0.attn", Decision::reject},
                                     {"qkv@layers.1.attn", Decision::apply},
                                     {"rms-norm@norm", Decision::reject}}));
}

TEST(Decide, APatternNameIsNoPrefix) {
    const auto decisions = decide(analysis(), {}, {apply("rms-norm")});
    ASSERT_TRUE(decisions.ok());
    EXPECT_EQ(decisions->size(), 1u);
}

TEST(Decide, StartsFromWhatWasDecided) {
    const auto decisions =
        decide(analysis(), {{"qkv@layers.0.attn", Decision::reject}}, {apply("qkv@layers.1.attn")});
    ASSERT_TRUE(decisions.ok());
    EXPECT_EQ(decisions->at("qkv@layers.0.attn"), Decision::reject);
    EXPECT_EQ(decisions->at("qkv@layers.1.attn"), Decision::apply);
}

TEST(Decide, ANameOfNothingIsAUsageErrorThatSaysWhatThereIs) {
    for (const char* what : {"rms-nrom", "qkv@layers.9.*", "rope"}) {
        const auto decisions = decide(analysis(), {}, {reject(what)});
        ASSERT_FALSE(decisions.ok()) << what;
        EXPECT_EQ(decisions.error().code, ErrorCode::usage);
        EXPECT_NE(decisions.error().message.find(what), std::string::npos);
        EXPECT_NE(decisions.error().message.find("qkv (2)"), std::string::npos) << decisions.error().message;
    }
}

TEST(Decide, OnlyRefusedSitesCannotBeAppliedAndTheReasonIsTold) {
    const auto decisions = decide(analysis(), {}, {apply("gate-up")});
    ASSERT_FALSE(decisions.ok());
    EXPECT_EQ(decisions.error().code, ErrorCode::usage);
    EXPECT_NE(decisions.error().message.find("found dim=[1]"), std::string::npos)
        << decisions.error().message;
    EXPECT_TRUE(decide(analysis(), {}, {reject("gate-up")}).ok());
}

TEST(Decide, EverythingMayBeNothing) {
    Analysis layerNorms; // a model that no pattern fits
    for (const DecisionRule& rule : {apply("*"), reject("*")}) {
        const auto decisions = decide(layerNorms, {}, {rule});
        ASSERT_TRUE(decisions.ok());
        EXPECT_TRUE(decisions->empty());
    }
    Site refused = analysis().sites.back();
    refused.verdict = SiteVerdict::refused;
    layerNorms.sites.push_back(refused);
    EXPECT_TRUE(decide(layerNorms, {}, {apply("*")}).ok());
}

TEST(Decide, PresentSitesNeedNoDecision) {
    const auto decisions = decide(analysis(), {}, {apply("attention")});
    ASSERT_TRUE(decisions.ok());
    EXPECT_TRUE(decisions->empty());
}

PlanSite planned(std::string id, std::string decision) {
    PlanSite made;
    made.id = std::move(id);
    made.decision = std::move(decision);
    return made;
}

TEST(DecisionsOf, APlanAreItsDecisions) {
    FusionPlan plan;
    plan.sites = {planned("qkv@layers.0.attn", "apply"), planned("qkv@layers.1.attn", "reject"),
                  planned("rms-norm@norm", "undecided")};
    const auto decisions = decisionsOf(plan, analysis(), "a.json");
    ASSERT_TRUE(decisions.ok());
    EXPECT_EQ(*decisions,
              (Decisions{{"qkv@layers.0.attn", Decision::apply}, {"qkv@layers.1.attn", Decision::reject}}));
}

TEST(DecisionsOf, ASiteThatIsGoneIsBadInputThatNamesIt) {
    FusionPlan plan;
    plan.sites = {planned("qkv@layers.77.attn", "apply")};
    const auto decisions = decisionsOf(plan, analysis(), "a.json");
    ASSERT_FALSE(decisions.ok());
    EXPECT_EQ(decisions.error().code, ErrorCode::badInput);
    EXPECT_NE(decisions.error().message.find("qkv@layers.77.attn"), std::string::npos);
    EXPECT_NE(decisions.error().message.find("a.json"), std::string::npos);
}

TEST(DecisionsOf, AnAppliedSiteThatIsRefusedIsBadInput) {
    FusionPlan plan;
    plan.sites = {planned("gate-up@layers.0.mlp", "apply")};
    EXPECT_FALSE(decisionsOf(plan, analysis(), "a.json").ok());
    plan.sites = {planned("gate-up@layers.0.mlp", "undecided")};
    EXPECT_TRUE(decisionsOf(plan, analysis(), "a.json").ok());
}

TEST(SameFindings, APlanMustSayWhatTheGraphSays) {
    Analysis model = analysis();
    Site& qkv = model.sites[2];
    qkv.parameters = {"q.weight", "k.weight", "v.weight"};
    qkv.facts = {{"sizes", std::vector<std::int64_t>{48, 16, 16}}};
    qkv.derived = {{qkv.parameters, 0}};
    FusionPlan plan;
    plan.sites = {planned(qkv.id, "apply")};
    plan.sites[0].state = "applied";
    plan.sites[0].parameters = qkv.parameters;
    plan.sites[0].facts = qkv.facts;
    for (const DerivedParameter& derived : qkv.derived)
        plan.derived.push_back({"merged", derived, qkv.id});
    EXPECT_TRUE(sameFindings(plan, model, "a.json").ok());

    FusionPlan other = plan;
    std::swap(other.derived[0].from.sources[0], other.derived[0].from.sources[1]);
    EXPECT_EQ(sameFindings(other, model, "a.json").error().code, ErrorCode::badInput);
    EXPECT_NE(sameFindings(other, model, "a.json").error().message.find("merged weights of the site qkv@"),
              std::string::npos);
    other = plan;
    other.derived.clear();
    EXPECT_FALSE(sameFindings(other, model, "a.json").ok());
    other = plan;
    other.sites[0].facts.find("sizes")->second = std::vector<std::int64_t>{1, 2, 3};
    EXPECT_NE(sameFindings(other, model, "a.json").error().message.find("other sizes"), std::string::npos);
    other = plan;
    other.sites[0].parameters.pop_back();
    EXPECT_FALSE(sameFindings(other, model, "a.json").ok());
    other = plan;
    other.sites[0].facts.emplace("of a later version", true);
    EXPECT_TRUE(sameFindings(other, model, "a.json").ok());
}

TEST(DecisionHistory, UndoesAndRedoes) {
    const Decisions one{{"a", Decision::apply}};
    const Decisions two{{"a", Decision::reject}};
    DecisionHistory history;
    EXPECT_FALSE(history.undo());
    history.set(one);
    history.set(one); // no step of its own
    history.set(two);
    EXPECT_TRUE(history.undo());
    EXPECT_EQ(history.current(), one);
    EXPECT_TRUE(history.redo());
    EXPECT_EQ(history.current(), two);
    EXPECT_FALSE(history.redo());
    EXPECT_TRUE(history.undo());
    EXPECT_TRUE(history.undo());
    EXPECT_EQ(history.current(), Decisions{});
    history.set(two);
    EXPECT_FALSE(history.redo());
}

} // namespace
} // namespace workbench
