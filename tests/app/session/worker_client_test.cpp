#include "app/session/worker_client.h"

#include <gtest/gtest.h>

#include <csignal>

namespace workbench {
namespace {

using nlohmann::json;

class WorkerClientTest : public testing::Test {
protected:
    WorkerClientTest() : m_client(WorkerClient::start({WORKBENCH_FAKE_WORKER}, m_job)) {
        EXPECT_TRUE(m_client.ok()) << m_client.error().message;
    }
    Result<WorkerClient::Answer> call(const std::string& method, json params = json::object()) {
        return m_client->call(method, std::move(params), m_job);
    }
    /// Calls a method and cancels when the worker says that it works on it: earlier, the request would not be
    /// sent at all.
    Result<WorkerClient::Answer> callAndCancel(const std::string& method) {
        return m_client->call(method, json::object(), m_job, [this](const json&) { m_cancel.cancel(); });
    }

    CancelToken m_cancel;
    Job m_job{&m_cancel, {}};
    Result<WorkerClient> m_client;
};

TEST_F(WorkerClientTest, SaysHelloAndAnswersWithPayload) {
    EXPECT_EQ(m_client->hello().at("threads"), 2);
    const auto answer = call("echo", {{"a", {1, 2}}});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->result, (json{{"a", {1, 2}}}));
    EXPECT_EQ(answer->payload, (std::vector<std::byte>{std::byte{1}, std::byte{2}}));
}

TEST_F(WorkerClientTest, AWorkerOfAnotherVersionIsRefusedWithBothVersions) {
    const auto other = WorkerClient::start({WORKBENCH_FAKE_WORKER, "0.0.7"}, m_job);
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(other.error().message.find("of workbench 0.0.7, this is " WORKBENCH_VERSION), std::string::npos)
        << other.error().message;
}

TEST_F(WorkerClientTest, HandsEventsOver) {
    std::vector<int> tokens;
    const auto answer = m_client->call("events", json::object(), m_job,
                                       [&](const json& event) { tokens.push_back(event.at("token")); });
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(tokens, (std::vector<int>{0, 1, 2}));
}

TEST_F(WorkerClientTest, SkipsAnswersOfEarlierRequests) {
    const auto answer = call("stale");
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->result, "mine");
}

TEST_F(WorkerClientTest, AReportedErrorKeepsItsKindAndTheWorkerLives) {
    const auto answer =
        call("fail", {{"code", "badInput"}, {"message", "no such tensor"}, {"where", "a.safetensors"}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::badInput);
    EXPECT_EQ(answer.error().message, "no such tensor");
    EXPECT_EQ(answer.error().where, "a.safetensors");
    EXPECT_TRUE(call("echo").ok());
}

TEST_F(WorkerClientTest, AnErrorWithoutWordsIsStillAnError) {
    const auto answer = call("fail", {{"code", 7}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::runtimeFailed);
    EXPECT_FALSE(answer.error().message.empty());
}

TEST_F(WorkerClientTest, ADeathBySignalNamesTheSignal) {
    const auto answer = call("signal", {{"number", SIGKILL}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(answer.error().message.find("was killed by signal 9 (Killed)"), std::string::npos)
        << answer.error().message;
    EXPECT_FALSE(m_client->alive());
    EXPECT_FALSE(call("echo").ok());
}

TEST_F(WorkerClientTest, AnExitNamesItsStatusAndItsLastWords) {
    const auto answer = call("exit", {{"status", 7}, {"words", "no memory left"}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().message, "the worker exited with status 7: no memory left");
}

TEST_F(WorkerClientTest, GarbageInsteadOfAFrameEndsTheWorker) {
    for (const char* method : {"text", "notJson"}) {
        auto client = WorkerClient::start({WORKBENCH_FAKE_WORKER}, m_job);
        ASSERT_TRUE(client.ok());
        const auto answer = client->call(method, json::object(), m_job);
        ASSERT_FALSE(answer.ok());
        EXPECT_EQ(answer.error().code, ErrorCode::runtimeFailed);
        EXPECT_NE(answer.error().message.find("protocol"), std::string::npos) << answer.error().message;
        EXPECT_FALSE(client->alive());
    }
}

TEST_F(WorkerClientTest, ACancelIsAnsweredByAWorkerThatListens) {
    const auto answer = callAndCancel("cancellable");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
    EXPECT_TRUE(m_client->alive());
}

TEST_F(WorkerClientTest, ACancelKillsAWorkerThatDoesNotListen) {
    const pid_t pid = m_client->pid();
    const auto answer = callAndCancel("hang");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
    EXPECT_FALSE(m_client->alive());
    EXPECT_NE(::kill(pid, 0), 0);
}

TEST(WorkerClientStart, AProgramThatIsNotThereIsNamed) {
    const auto client = WorkerClient::start({"/nowhere/worker"}, {});
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(client.error().message.find("/nowhere/worker"), std::string::npos);
}

TEST(WorkerClientStart, AProgramThatIsNoWorkerIsAnError) {
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"true"}, {"echo", "hello"}, {"sh", "-c", "echo why >&2; exit 3"}}) {
        const auto client = WorkerClient::start(command, {});
        ASSERT_FALSE(client.ok());
        EXPECT_EQ(client.error().code, ErrorCode::runtimeFailed);
    }
}

TEST(WorkerClientStart, AProgramThatSaysNothingIsEnded) {
    const auto client = WorkerClient::start({"sleep", "600"}, {}, std::chrono::milliseconds(1000));
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(client.error().message.find("within 1 s"), std::string::npos) << client.error().message;
}

TEST(AProgramThatIsNoWorker, IsFoundOutEvenWhenItEchoes) {
    const auto started = WorkerClient::start({"cat"}, {});
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, ErrorCode::runtimeFailed);
    EXPECT_NE(started.error().message.find("no answer"), std::string::npos) << started.error().message;
}

} // namespace
} // namespace workbench
