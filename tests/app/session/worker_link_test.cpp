#include "app/session/worker_link.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

namespace workbench {
namespace {

using nlohmann::json;

class WorkerLinkTest : public testing::Test {
protected:
    WorkerLinkTest() {
        auto worker = WorkerClient::start({WORKBENCH_FAKE_WORKER}, {});
        EXPECT_TRUE(worker.ok()) << worker.error().message;
        m_link = std::make_unique<WorkerLink>(std::move(worker).value(),
                                              [this](const Error& error) { m_death.set_value(error); });
    }
    ~WorkerLinkTest() override { m_link.reset(); }

    std::future<Result<json>> send(const std::string& method, json params = json::object(),
                                   WorkerLink::OnEvent onEvent = {}) {
        const auto promise = std::make_shared<std::promise<Result<json>>>();
        m_id = m_link->send(method, std::move(params), std::move(onEvent),
                            [promise](Result<json> answer) { promise->set_value(std::move(answer)); });
        return promise->get_future();
    }

    std::promise<Error> m_death;
    std::int64_t m_id = 0;
    std::unique_ptr<WorkerLink> m_link;
};

TEST_F(WorkerLinkTest, GivesEachRequestItsOwnEventsAndAnswer) {
    std::vector<int> tokens;
    auto events =
        send("events", json::object(), [&](const json& event) { tokens.push_back(event.at("token")); });
    auto echo = send("echo", {{"a", 1}});
    auto failed = send("fail", {{"code", "runtimeFailed"}, {"message", "full"}, {"where", "queue"}});
    EXPECT_TRUE(events.get().ok());
    EXPECT_EQ(tokens, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(echo.get().value(), (json{{"a", 1}}));
    const auto error = failed.get();
    ASSERT_FALSE(error.ok());
    EXPECT_EQ(error.error().where, "queue");
}

TEST_F(WorkerLinkTest, CancelsARequestByItsNumber) {
    std::promise<void> started;
    auto answer = send("cancellable", json::object(), [&](const json&) { started.set_value(); });
    started.get_future().wait();
    m_link->cancel(m_id);
    const auto cancelled = answer.get();
    ASSERT_FALSE(cancelled.ok());
    EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
}

TEST_F(WorkerLinkTest, AnswersAllThatIsOpenWhenTheWorkerDies) {
    bool knownBefore = false;
    std::promise<Result<json>> ended;
    m_link->send("hang", json::object(), {}, [&](Result<json> answer) {
        knownBefore = m_death.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        ended.set_value(std::move(answer));
    });
    ::kill(m_link->pid(), SIGKILL);
    const auto answer = ended.get_future().get();
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().message.find("killed by signal 9"), std::string::npos) << answer.error().message;
    EXPECT_TRUE(knownBefore);
    EXPECT_FALSE(send("echo").get().ok());
}

TEST_F(WorkerLinkTest, EndsWithRequestsOpen) {
    auto open = send("hang");
    m_link.reset();
    EXPECT_FALSE(open.get().ok());
}

} // namespace
} // namespace workbench
