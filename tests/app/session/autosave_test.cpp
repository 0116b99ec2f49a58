#include "app/session/autosave.h"
#include "tests/support/temporary_folder.h"

#include <sys/wait.h>
#include <unistd.h>

namespace workbench {
namespace {

Autosaved work(const char* model) {
    Autosaved made;
    made.model = model;
    made.planFile = "/plans/a.json";
    made.trace.dtype = TraceDtype::f32;
    made.trace.trustRemoteCode = true;
    made.plan.fingerprint = "sha256:" + std::string(64, '1');
    return made;
}

class Autosave : public TemporaryFolder {
protected:
    /// A process that saves and dies without an end.
    void crashWith(const char* model) const {
        const pid_t child = ::fork();
        if (child == 0) {
            auto slot = AutosaveSlot::create(folder());
            ::_exit(slot && slot->write(work(model)) ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }
};

TEST_F(Autosave, WorkOfAWindowThatCrashedIsFound) {
    crashWith("/models/a");
    const std::vector<Autosaved> found = abandonedWork(folder());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().model, "/models/a");
    EXPECT_EQ(found.front().planFile, "/plans/a.json");
    EXPECT_EQ(found.front().trace.dtype, TraceDtype::f32);
    EXPECT_EQ(found.front().plan.fingerprint, work("").plan.fingerprint);
    forgetWork(found.front());
    EXPECT_TRUE(abandonedWork(folder()).empty());
}

TEST_F(Autosave, TrustInAModelsCodeIsNotKept) {
    crashWith("/models/a");
    EXPECT_FALSE(abandonedWork(folder()).front().trace.trustRemoteCode);
}

TEST_F(Autosave, WorkOfAWindowThatLivesIsItsOwn) {
    auto slot = AutosaveSlot::create(folder());
    ASSERT_TRUE(slot) << slot.error().message;
    ASSERT_TRUE(slot->write(work("/models/a")));
    EXPECT_TRUE(abandonedWork(folder()).empty());
}

TEST_F(Autosave, ANormalEndLeavesNothing) {
    {
        auto slot = AutosaveSlot::create(folder());
        ASSERT_TRUE(slot);
        ASSERT_TRUE(slot->write(work("/models/a")));
    }
    EXPECT_TRUE(abandonedWork(folder()).empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder() / "autosave"));
}

TEST_F(Autosave, WhatCannotBeReadIsDropped) {
    crashWith("/models/a");
    const std::filesystem::path slot = abandonedWork(folder()).front().slot;
    std::ofstream(slot / "work.json") << "{";
    EXPECT_TRUE(abandonedWork(folder()).empty());
    EXPECT_FALSE(std::filesystem::exists(slot));
}

} // namespace
} // namespace workbench
