#include "core/plan/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace workbench {
namespace {

std::string slurp(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

const std::filesystem::path kHere = WORKBENCH_TEST_DIRECTORY;

PlanSite appliedSite() {
    PlanSite site;
    site.id = "qkv@model.layers.0.self_attn";
    site.pattern = "qkv";
    site.module = "model.layers.0.self_attn";
    site.verdict = "applicable";
    site.state = "applied";
    site.decision = "apply";
    site.parameters = {"model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.k_proj.weight"};
    site.facts = {{"bias", false},
                  {"eps", 1e-5},
                  {"heads", std::int64_t{9}},
                  {"scale", 1.0},
                  {"sizes", std::vector<std::int64_t>{576, 192, 192}},
                  {"style", std::string("half")},
                  {"weights", std::vector<std::string>{"q", "k"}}};
    site.proof = PlanProof{"weights", "f32", 2.5e-7, 1e-8, 1e-5, 66, true};
    return site;
}

PlanSite refusedSite() {
    PlanSite site;
    site.id = "rope@model.layers.0.self_attn#1";
    site.pattern = "rope";
    site.module = "model.layers.0.self_attn";
    site.verdict = site.state = "refused";
    site.decision = "undecided";
    site.reason = "at add_7 (modeling_x.py:12): expected one table, found \"two\" \u2013 line\nbreak";
    return site;
}

PlanSite containedSite() {
    PlanSite site;
    site.id = "rms-norm@model.norm";
    site.pattern = "rms-norm";
    site.module = "model.norm";
    site.verdict = "applicable";
    site.state = "contained";
    site.decision = "apply";
    site.with = "add-rms-norm@model.norm";
    site.note = "leave it";
    return site;
}

FusionPlan fullPlan() {
    FusionPlan plan;
    plan.fingerprint = "sha256:" + std::string(64, 'a');
    plan.model = {"LlamaForCausalLM", "llama", "bf16", 30};
    plan.versions = {{"torch", "2.11.0"}, {"workbench", "0.1.0"}};
    plan.weights = "sha256:" + std::string(64, 'b');
    plan.sites = {appliedSite(), refusedSite(), containedSite()};
    plan.derived = {
        {"model.layers.0.self_attn.qkv.weight",
         {{"model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.k_proj.weight"}, 0},
         "qkv@model.layers.0.self_attn"}};
    plan.endToEnd = PlanProof{
        "random-weights", "f32", std::nan(""), std::numeric_limits<double>::infinity(), 1e-5, 66, false};
    return plan;
}

TEST(Plan, IsWrittenAsTheGoldenFile) {
    EXPECT_EQ(toJson(fullPlan()), slurp(kHere / "full_plan.json"));
}

TEST(Plan, ReadsBackWhatItWrote) {
    const std::string text = toJson(fullPlan());
    const auto plan = planFromJson(text, "a.json");
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(toJson(*plan), text);
    EXPECT_EQ(plan->sites[0].facts, appliedSite().facts);
    EXPECT_EQ(plan->sites[2].with, "add-rms-norm@model.norm");
    EXPECT_TRUE(std::isnan(plan->endToEnd->maxAbsError));
}

TEST(Plan, KeepsWholeNumbersAndFractionsApart) {
    const auto plan = planFromJson(toJson(fullPlan()), "a.json");
    ASSERT_TRUE(plan.ok());
    EXPECT_TRUE(std::holds_alternative<double>(plan->sites[0].facts.at("scale")));
    EXPECT_TRUE(std::holds_alternative<std::int64_t>(plan->sites[0].facts.at("heads")));
}

class BrokenPlan : public testing::TestWithParam<nlohmann::json> {};

TEST_P(BrokenPlan, IsRefusedWithItsPlace) {
    const auto broken = nlohmann::json::parse(slurp(kHere / "full_plan.json")).patch(GetParam().at("patch"));
    const auto plan = planFromJson(broken.dump(), "dir/a.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code, ErrorCode::badInput);
    EXPECT_TRUE(plan.error().message.starts_with("the plan dir/a.json")) << plan.error().message;
    for (const auto& word : GetParam().at("words"))
        EXPECT_NE(plan.error().message.find(word.get<std::string>()), std::string::npos)
            << plan.error().message;
}

std::vector<nlohmann::json> brokenPlans() {
    return nlohmann::json::parse(slurp(kHere / "broken_plans.json")).at("cases");
}

INSTANTIATE_TEST_SUITE_P(Cases, BrokenPlan, testing::ValuesIn(brokenPlans()),
                         [](const auto& info) { return info.param.at("name").template get<std::string>(); });

TEST(Plan, RefusesWhatIsNoPlanAtAll) {
    for (const char* text : {"", "{", "[]", "null", "3", "{\"schema\": 1, \"schema\": 1}", "\xff\xfe"}) {
        const auto plan = planFromJson(text, "a.json");
        ASSERT_FALSE(plan.ok()) << text;
        EXPECT_EQ(plan.error().code, ErrorCode::badInput);
        EXPECT_NE(plan.error().message.find("a.json"), std::string::npos);
        EXPECT_EQ(plan.error().message.find("json.exception"), std::string::npos) << plan.error().message;
    }
}

TEST(Plan, NamesAKeyThatOccursTwice) {
    std::string text = toJson(fullPlan());
    text.insert(text.find("\"fingerprint\""), "\"weights\": \"x\", ");
    const auto plan = planFromJson(text, "a.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().message.find("'weights' twice"), std::string::npos) << plan.error().message;
}

TEST(Plan, DeepNestingIsRefusedWithoutRecursion) {
    EXPECT_FALSE(planFromJson(std::string(1'000'000, '['), "a.json").ok());
}

TEST(PlanDiff, IsEmptyForEqualPlans) {
    EXPECT_TRUE(diffPlans(fullPlan(), fullPlan()).empty());
}

TEST(PlanDiff, IgnoresProofsAndVersions) {
    FusionPlan other = fullPlan();
    other.versions.clear();
    other.weights.clear();
    other.endToEnd.reset();
    other.sites[0].proof.reset();
    EXPECT_TRUE(diffPlans(fullPlan(), other).empty());
}

TEST(PlanDiff, TellsStatesNotesAndMissingSites) {
    FusionPlan other = fullPlan();
    other.sites[0].state = "rejected";
    other.sites[0].decision = "reject";
    other.sites[2].note = "";
    other.sites[1].id = "rope@model.layers.1.self_attn";
    EXPECT_EQ(diffPlans(fullPlan(), other),
              (std::vector<std::string>{"qkv@model.layers.0.self_attn: applied -> rejected",
                                        "rope@model.layers.0.self_attn#1: refused -> (no such site)",
                                        "rms-norm@model.norm: note: leave it -> ",
                                        "rope@model.layers.1.self_attn: (no such site) -> refused"}));
}

TEST(PlanDiff, TellsModelsApart) {
    FusionPlan other = fullPlan();
    other.model.dtype = "f32";
    other.fingerprint.back() = 'b';
    const auto lines = diffPlans(fullPlan(), other);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], "model: LlamaForCausalLM bf16 -> LlamaForCausalLM f32");
}

} // namespace
} // namespace workbench
