#include "core/plan/plan.h"
#include "tests/support/graph_from.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace workbench {
namespace {

namespace fs = std::filesystem;

using PlanFile = TemporaryFolder;

FusionPlan smallPlan() {
    FusionPlan plan;
    plan.fingerprint = "sha256:" + std::string(64, '0');
    plan.model = {"LlamaForCausalLM", "llama", "f32", 2};
    return plan;
}

TEST_F(PlanFile, IsReadAsItWasWritten) {
    ASSERT_TRUE(writePlan(smallPlan(), folder() / "plan.json").ok());
    const auto plan = readPlan(folder() / "plan.json");
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(toJson(*plan), toJson(smallPlan()));
}

TEST_F(PlanFile, ThatIsMissingIsNamed) {
    const auto plan = readPlan(folder() / "gone.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code, ErrorCode::badInput);
    EXPECT_NE(plan.error().message.find("gone.json"), std::string::npos);
}

TEST_F(PlanFile, ThatIsBrokenIsNamed) {
    std::ofstream(folder() / "broken.json") << "{";
    const auto plan = readPlan(folder() / "broken.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().message.find("broken.json"), std::string::npos);
}

TEST_F(PlanFile, StaysWholeWhenTheNewOneCannotBeWritten) {
    fs::create_directories(folder() / "plan.json"); // a folder of that name cannot be replaced
    const auto written = writePlan(smallPlan(), folder() / "plan.json");
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::badInput);
    EXPECT_TRUE(fs::is_directory(folder() / "plan.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

constexpr const char* kGraph = R"(module "model" Model
input %x: f32[1, s0] "x"
%y: f32[1, s0] = aten.mul.Tensor(self=%x, other=%x) @"model" from "a.py":1 forward
output %y
)";

constexpr const char* kSameElsewhere = R"(module "model" Model
input %x: f32[1, s0] "x"
%y: f32[1, s0] = aten.mul.Tensor(self=%x, other=%x) @"model" from "b.py":99 forward
output %y
)";

constexpr const char* kOther = R"(module "model" Model
input %x: f32[1, s0] "x"
%y: f32[1, s0] = aten.add.Tensor(self=%x, other=%x) @"model" from "a.py":1 forward
output %y
)";

TEST(Fingerprint, SeesTheGraphAndTheConfigButNoSourceLines) {
    const std::string base = fingerprint(graphFrom(kGraph), "{}");
    EXPECT_EQ(base.size(), 7u + 64u);
    EXPECT_EQ(base, fingerprint(graphFrom(kSameElsewhere), "{}"));
    EXPECT_NE(base, fingerprint(graphFrom(kOther), "{}"));
    EXPECT_NE(base, fingerprint(graphFrom(kGraph), "{\"eps\":1}"));
}

} // namespace
} // namespace workbench
