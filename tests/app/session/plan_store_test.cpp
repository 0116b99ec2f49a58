#include "app/session/plan_store.h"
#include "tests/support/temporary_folder.h"

namespace workbench {
namespace {

class PlanStore : public TemporaryFolder {
protected:
    std::filesystem::path file() const { return folder() / "plan.json"; }
    Result<FileContent> store(const std::optional<FileContent>& known, const char* className = "A") const {
        FusionPlan plan;
        plan.fingerprint = "sha256:" + std::string(64, '1');
        plan.model.className = className;
        return storePlan(plan, file(), known, folder() / "cache", {});
    }
};

TEST_F(PlanStore, WhatWasSavedIsKnownAtTheNextSave) {
    const auto first = store(std::nullopt);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(loadPlan(file())->content, *first);
    EXPECT_TRUE(store(*first, "B"));
    EXPECT_EQ(loadPlan(file())->plan.model.className, "B");
}

TEST_F(PlanStore, AFileThatSomebodyElseChangedStays) {
    const auto first = store(std::nullopt);
    ASSERT_TRUE(first);
    ASSERT_TRUE(store(std::nullopt, "Other"));
    const auto second = store(*first, "Mine");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::usage);
    EXPECT_NE(second.error().message.find("changed by somebody else"), std::string::npos);
    EXPECT_EQ(loadPlan(file())->plan.model.className, "Other");
}

TEST_F(PlanStore, AFileThatWasRemovedIsAskedAboutToo) {
    const auto first = store(std::nullopt);
    std::filesystem::remove(file());
    const auto second = store(*first);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("removed"), std::string::npos);
    EXPECT_TRUE(store(std::nullopt));
}

TEST_F(PlanStore, WithoutASpaceToWriteTheOldPlanStays) {
    const auto first = store(std::nullopt);
    ASSERT_TRUE(first);
    FusionPlan plan;
    const auto failed =
        storePlan(plan, folder() / "no" / "such" / "plan.json", std::nullopt, folder() / "cache", {});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("plan.json"), std::string::npos);
}

} // namespace
} // namespace workbench
