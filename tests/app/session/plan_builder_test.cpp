#include "app/session/plan_builder.h"
#include "tests/support/graph_from.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using State = SiteOutcome::State;

constexpr const char* kBefore = R"(module "" Model
input %x: f32[1, 4] "x"
parameter %a: f32[2, 4] "a"
parameter %b: f32[2, 4] "b"
%p: f32[1, 2] = aten.linear.default(input=%x, weight=%a, bias=none) @"" from "dir/model.py":7 forward
%q: f32[1, 2] = aten.linear.default(input=%x, weight=%b, bias=none) @"" from "dir/model.py":8 forward
output %p, %q
)";

constexpr const char* kAfter = R"(module "" Model
input %x: f32[1, 4] "x"
parameter %ab: f32[4, 4] "ab" = cat(0, "a", "b")
%y: f32[1, 4] = aten.linear.default(input=%x, weight=%ab, bias=none)
%p: f32[1, 2], %q: f32[1, 2] = aten.split_with_sizes.default(self=%y, split_sizes=[2, 2], dim=-1)
output %p, %q
)";

Site site(const char* id, SiteVerdict verdict) {
    Site made;
    made.id = id;
    made.pattern = made.id.substr(0, made.id.find('@'));
    made.module = made.id.substr(made.id.find('@') + 1);
    made.verdict = verdict;
    return made;
}

class PlanBuilder : public testing::Test {
protected:
    PlanBuilder() : m_canonical(graphFrom(kBefore)), m_rewritten{graphFrom(kAfter), {}} {
        Site applied = site("qkv@attn", SiteVerdict::applicable);
        applied.derived = {{{"a", "b"}, 0}};
        applied.parameters = {"a", "b"};
        applied.facts = {{"sizes", std::vector<std::int64_t>{2, 2}}};
        Site refused = site("rope@attn", SiteVerdict::refused);
        refused.miss = NoMatch{1, "one table", "two"};
        m_analysis.sites = {applied, site("rms-norm@norm", SiteVerdict::applicable), refused};
        m_rewritten.outcomes = {{State::applied, {}, {}, {}, {}},
                                {State::contained, "add-rms-norm@norm", {}, {}, {}},
                                {State::refused, {}, {}, {}, {}}};
        m_context.fingerprint = "sha256:" + std::string(64, '1');
    }
    FusionPlan build(const Decisions& decisions = {{"qkv@attn", Decision::apply}}) const {
        return buildPlan(m_canonical, m_analysis, decisions, m_rewritten, m_context);
    }

    Graph m_canonical;
    Analysis m_analysis;
    Rewritten m_rewritten;
    PlanContext m_context;
};

TEST_F(PlanBuilder, TellsVerdictStateAndDecisionOfEachSite) {
    const FusionPlan plan = build();
    ASSERT_EQ(plan.sites.size(), 3u);
    EXPECT_EQ(plan.sites[0].verdict, "applicable");
    EXPECT_EQ(plan.sites[0].state, "applied");
    EXPECT_EQ(plan.sites[0].decision, "apply");
    EXPECT_EQ(plan.sites[1].state, "contained");
    EXPECT_EQ(plan.sites[1].decision, "undecided");
    EXPECT_EQ(plan.sites[1].with, "add-rms-norm@norm");
    EXPECT_EQ(plan.sites[2].reason, "expected one table, found two at q (model.py:8)");
}

TEST_F(PlanBuilder, NamesDerivedParametersAsTheRewrittenGraphDoes) {
    const FusionPlan plan = build();
    ASSERT_EQ(plan.derived.size(), 1u);
    EXPECT_EQ(plan.derived[0].name, "ab");
    EXPECT_EQ(plan.derived[0].from.sources, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(plan.derived[0].site, "qkv@attn");
}

TEST_F(PlanBuilder, KeepsNotesAndTheProofsOfAppliedSitesOnly) {
    m_context.notes = {{"rms-norm@norm", "too slow here"}};
    const PlanProof proof{"weights", "f32", 0, 0, 1e-5, 8, true};
    m_context.proofs = {{"qkv@attn", proof}, {"rms-norm@norm", proof}};
    const FusionPlan plan = build();
    EXPECT_TRUE(plan.sites[0].proof.has_value());
    EXPECT_FALSE(plan.sites[1].proof.has_value());
    EXPECT_EQ(plan.sites[1].note, "too slow here");
}

TEST_F(PlanBuilder, WhatItBuildsIsReadBack) {
    const std::string text = toJson(build());
    const auto plan = planFromJson(text, "a.json");
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(toJson(*plan), text);
}

} // namespace
} // namespace workbench
