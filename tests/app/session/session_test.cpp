#include "app/session/session.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

constexpr const char* kText = R"(module "" Model
module "mlp" MLP
parameter %wg: f32[96, 32] "mlp.gate_proj.weight"
parameter %wu: f32[96, 32] "mlp.up_proj.weight"
input %x: f32[1, s0, 32]
%g: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wg) @"mlp"
%act: f32[1, s0, 96] = aten.silu.default(self=%g) @"mlp"
%u: f32[1, s0, 96] = aten.linear.default(input=%x, weight=%wu) @"mlp"
%m: f32[1, s0, 96] = aten.mul.Tensor(self=%act, other=%u) @"mlp"
output %m
)";
constexpr const char* kSite = "gate-up@mlp";

Session session() {
    auto model = std::make_shared<TracedModel>();
    model->canonical = *canonicalize(*parseGraph(kText));
    model->analysis = analyze(model->canonical);
    return Session::of(model, {}, {});
}

TEST(Session, ACopyGoesItsOwnWay) {
    Session original = session();
    original.decide({{kSite, Decision::apply}}, "apply");
    Session copy = original;
    copy.decide({}, "clear");
    EXPECT_EQ(original.decisions().size(), 1u);
    EXPECT_EQ(&copy.model(), &original.model());
    EXPECT_LT((*original.rewritten())->graph.nodes.size(), (*copy.rewritten())->graph.nodes.size());
}

TEST(Session, StepsAreNamed) {
    Session edited = session();
    edited.decide({{kSite, Decision::reject}}, "reject gate-up");
    edited.setNote(kSite, "slower", "note");
    EXPECT_EQ(edited.history().undoText(), "note");
    edited.undo();
    EXPECT_TRUE(edited.history().choices().notes.empty());
    EXPECT_EQ(edited.history().undoText(), "reject gate-up");
    EXPECT_EQ(edited.history().redoText(), "note");
}

TEST(Session, ANoteReachesThePlan) {
    Session edited = session();
    edited.setNote(kSite, "slower");
    EXPECT_EQ(edited.plan()->sites.front().note, "slower");
    edited.setNote(kSite, "");
    EXPECT_EQ(edited.plan()->sites.front().note, "");
}

TEST(Session, TakesProofsOfACopyButNotAnEndToEndProofOfOtherDecisions) {
    Session original = session();
    PlanProof proof;
    proof.passed = true;
    Session copy = original;
    copy.decide({{kSite, Decision::apply}});
    copy.setProofs({{kSite, proof}}, proof, "");
    EXPECT_TRUE(original.takeFindings(copy));
    EXPECT_NE(original.proof(kSite), nullptr);
    EXPECT_EQ(original.endToEnd(), nullptr);
    EXPECT_FALSE(original.takeFindings(copy)) << "there is nothing new";
    original.decide({{kSite, Decision::apply}});
    Session same = original;
    same.setProofs({{kSite, proof}}, proof, "");
    EXPECT_TRUE(original.takeFindings(same));
    EXPECT_NE(original.endToEnd(), nullptr);
}

TEST(Session, ANoteDoesNotEndAProof) {
    Session proven = session();
    proven.setProofs({}, PlanProof{}, "");
    proven.setNote(kSite, "fine");
    EXPECT_NE(proven.endToEnd(), nullptr);
    proven.undo();
    EXPECT_NE(proven.endToEnd(), nullptr);
    proven.decide({{kSite, Decision::apply}});
    EXPECT_EQ(proven.endToEnd(), nullptr);
}

TEST(Session, AdoptsChoicesWhoseSitesAreStillThere) {
    Session opened = session();
    const Choices choices{{{kSite, Decision::apply}, {"qkv@gone", Decision::apply}},
                          {{kSite, "good"}, {"qkv@gone", "bad"}}};
    EXPECT_EQ(opened.adopt(choices), std::vector<std::string>{"qkv@gone"});
    EXPECT_EQ(opened.decisions(), (Decisions{{kSite, Decision::apply}}));
    EXPECT_EQ(opened.history().choices().notes, (SiteNotes{{kSite, "good"}}));
}

} // namespace
} // namespace workbench
