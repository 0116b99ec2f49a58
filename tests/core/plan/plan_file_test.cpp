#include "core/graph/text.h"
#include "core/plan/plan.h"

#include <gtest/gtest.h>

#include <fstream>

namespace workbench {
namespace {

namespace fs = std::filesystem;

class PlanFile : public testing::Test {
protected:
    PlanFile() {
        fs::remove_all(m_folder);
        fs::create_directories(m_folder);
    }
    ~PlanFile() override { fs::remove_all(m_folder); }

    const fs::path m_folder = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

FusionPlan smallPlan() {
    FusionPlan plan;
    plan.fingerprint = "sha256:" + std::string(64, '0');
    plan.model = {"LlamaForCausalLM", "llama", "f32", 2};
    return plan;
}

TEST_F(PlanFile, IsReadAsItWasWritten) {
    ASSERT_TRUE(writePlan(smallPlan(), m_folder / "plan.json").ok());
    const auto plan = readPlan(m_folder / "plan.json");
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(toJson(*plan), toJson(smallPlan()));
}

TEST_F(PlanFile, ThatIsMissingIsNamed) {
    const auto plan = readPlan(m_folder / "gone.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code, ErrorCode::badInput);
    EXPECT_NE(plan.error().message.find("gone.json"), std::string::npos);
}

TEST_F(PlanFile, ThatIsBrokenIsNamed) {
    std::ofstream(m_folder / "broken.json") << "{";
    const auto plan = readPlan(m_folder / "broken.json");
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().message.find("broken.json"), std::string::npos);
}

TEST_F(PlanFile, StaysWholeWhenTheNewOneCannotBeWritten) {
    fs::create_directories(m_folder / "plan.json"); // a folder of that name cannot be replaced
    const auto written = writePlan(smallPlan(), m_folder / "plan.json");
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::badInput);
    EXPECT_TRUE(fs::is_directory(m_folder / "plan.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()), 1);
}

Graph graphFrom(const char* text) {
    auto graph = parseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    return std::move(graph).value();
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
