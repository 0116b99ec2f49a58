#include "app/session/runtime.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace workbench {
namespace {

using nlohmann::json;

/// The cache with a traced archive, a model directory beside it, and workers that tell what they were asked
/// to load.
class RuntimeTest : public TemporaryFolder {
protected:
    RuntimeTest() {
        std::filesystem::create_directories(folder() / "cache" / "traces");
        writeFile("cache/traces/trace.pt2", "a traced archive");
        writeFile("mine.pt2", "an archive of the user");
        m_model.directory = folder() / "model";
        m_model.archive = folder() / "cache" / "traces" / "trace.pt2";
        m_model.parameters = {{"weight", {{"from", json::array()}}}};
        m_model.hasWeights = true;
        m_locations.cache = folder() / "cache";
    }

    /// The "weights" that the worker was sent for the model.
    json loaded(Runtime& runtime) {
        const Status done = runtime.load("original", Graph{}, runtime.weightsOf(m_model), {});
        EXPECT_TRUE(done.ok()) << done.error().message;
        auto weights = runtime.call("weights", json::object(), {});
        return weights ? weights->result : json();
    }

    Locations m_locations;
    TracedModel m_model;
};

TEST_F(RuntimeTest, SendsTheTraceToAWorkerElsewhereOnce) {
    Runtime runtime(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_EQ(loaded(runtime).at("archive"), "/received/1");
    EXPECT_EQ(loaded(runtime).at("archive"), "/received/1");
}

TEST_F(RuntimeTest, SendsAChangedTraceAgain) {
    Runtime runtime(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_EQ(loaded(runtime).at("archive"), "/received/1");
    writeFile("cache/traces/trace.pt2", "another traced archive");
    EXPECT_EQ(loaded(runtime).at("archive"), "/received/2");
}

TEST_F(RuntimeTest, LeavesAnArchiveOfTheUserWhereItIs) {
    m_model.archive = folder() / "mine.pt2";
    Runtime runtime(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_EQ(loaded(runtime).at("archive"), m_model.archive.string());
}

TEST_F(RuntimeTest, TakesTheModelFromWhereItIsOnTheOtherMachine) {
    Runtime here(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_EQ(loaded(here).at("directory"), m_model.directory.string());
    Runtime there(m_locations, WORKBENCH_FAKE_WORKER, "/models/there");
    EXPECT_EQ(loaded(there).at("directory"), "/models/there");
}

TEST_F(RuntimeTest, SaysWhatProductsKeepTheirWeightsIn) {
    Runtime stored(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_EQ(loaded(stored).at("format"), "stored");
    Runtime int8(m_locations, WORKBENCH_FAKE_WORKER, {}, "int8");
    EXPECT_EQ(loaded(int8).at("format"), "int8");
}

TEST_F(RuntimeTest, TellsOnceWhatStaysAsItIsStored) {
    std::vector<std::string> notices;
    const auto note = [&](const std::string& notice) { notices.push_back(notice); };
    Runtime int8(m_locations, WORKBENCH_FAKE_WORKER, {}, "int8");
    int8.setNotices(note);
    loaded(int8);
    EXPECT_TRUE(notices.empty());
    EXPECT_TRUE(int8.products().empty());
    Runtime int4(m_locations, WORKBENCH_FAKE_WORKER, {}, "int4");
    int4.setNotices(note);
    loaded(int4);
    loaded(int4);
    EXPECT_EQ(notices, (std::vector<std::string>{
                           "int4 weights reach a part of the model only: in the program 'original' 2 "
                           "matrices that products read stay as they are stored (0.3 MB), 1 is in int4 "
                           "(0.1 MB)"}));
    EXPECT_EQ(int4.products().at("original").at("stored").at("matrices"), 2);
}

TEST_F(RuntimeTest, WeightsMayBeOnTheOtherMachineOnly) {
    m_model.hasWeights = false;
    Runtime here(m_locations, WORKBENCH_FAKE_WORKER);
    EXPECT_FALSE(here.hasWeights(m_model));
    EXPECT_EQ(loaded(here).at("directory"), "");
    Runtime there(m_locations, WORKBENCH_FAKE_WORKER, "/models/there");
    EXPECT_TRUE(there.hasWeights(m_model));
    EXPECT_EQ(loaded(there).at("directory"), "/models/there");
}

} // namespace
} // namespace workbench
