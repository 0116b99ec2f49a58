#include "app/session/site_evidence.h"
#include "core/graph/text.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

constexpr const char* kText = R"(module "" Model
input %x: f32[1, 4] "x"
parameter %a: f32[2, 4] "attn.q.weight"
%p: f32[1, 2] = aten.linear.default(input=%x, weight=%a, bias=none) @"" from "dir/model.py":7 forward
output %p
)";

Site qkvSite() {
    Site site;
    site.id = "qkv@attn";
    site.pattern = "qkv";
    site.module = "attn";
    site.verdict = SiteVerdict::applicable;
    site.facts = {{"sizes", std::vector<std::int64_t>{48, 16, 16}}, {"scale", 0.125}};
    site.parameters = {"attn.q.weight"};
    site.derived = {{{"attn.q.weight", "attn.k.weight"}, 0}};
    return site;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(SiteEvidence, TellsAllThatIsKnownOfASite) {
    const Graph graph = parseGraph(kText).value();
    SiteEvidence evidence;
    evidence.decision = Decision::apply;
    evidence.outcome.state = SiteOutcome::State::conflicts;
    evidence.outcome.with = "rope@attn";
    evidence.note = "look again";
    evidence.conditions = {{"all projections read %x", "input %x | y", 0, true}};
    evidence.estimated = SiteGain{{1000, 3}, {400, 1}};
    evidence.measured = SpeedGain{2.6, 1.9, 3.2};
    EXPECT_EQ(speedText({2.6, 1.9, 3.2, "int8"}), "+2.6 % (+1.9 to +3.2) on int8 weights");
    evidence.proof = PlanProof{"weights", "f32", 1e-7, 3.1e-7, 1e-5, 24, true};
    const std::string report = evidenceReport(graph, qkvSite(), evidence);
    EXPECT_EQ(report.substr(0, report.find('\n')), "## `qkv@attn`");
    for (const char* part :
         {"`[q | k | v] = x [Wq; Wk; Wv]^T + [bq; bk; bv]`",
          "- Verdict: applicable, decision apply, conflicts (rope@attn)\n", "- Note: look again\n",
          "scale=0.125, sizes=[48, 16, 16]", "cat(0, attn.q.weight, attn.k.weight)",
          "600 of 1000 bytes of traffic and 2 of 3 launches less, for 1 token\n",
          "- Share of the measured gain: +2.6 % (+1.9 to +3.2)\n",
          "passed: relative error 3.1e-07, tolerance 1e-05 (f32, weights, 24 tokens)",
          "| holds | all projections read %x | input %x \\| y | p (aten.linear) | model.py:7 |"})
        EXPECT_TRUE(has(report, part)) << part << "\nin\n" << report;
}

TEST(SiteEvidence, ANearMissNamesItsReasonAndTheConditionThatFails) {
    const Graph graph = parseGraph(kText).value();
    Site site = qkvSite();
    site.verdict = SiteVerdict::refused;
    site.miss = NoMatch{0, "each weight is used once", "used 2 times"};
    SiteEvidence evidence;
    evidence.conditions = {{"each weight is used once", "used 2 times", 0, false}};
    const std::string report = evidenceReport(graph, site, evidence);
    EXPECT_TRUE(has(report, "- Verdict: refused\n")) << report;
    EXPECT_TRUE(
        has(report, "- Reason: expected each weight is used once, found used 2 times at p (model.py:7)\n"));
    EXPECT_TRUE(has(report, "| **fails** |"));
    EXPECT_FALSE(has(report, "Estimated"));
    EXPECT_FALSE(has(report, "Proof"));
}

} // namespace
} // namespace workbench
