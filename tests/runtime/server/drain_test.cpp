#include "fake_backend.h"

#include <thread>

namespace workbench::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class Ending : public ServerFixture {};

const std::string kStream =
    R"({"model": "fake", "prompt": "abc", "max_tokens": 60, "temperature": 0, "stream": true})";

TEST_F(Ending, LetsWhatRunsComeToItsEndAndRefusesWhatComes) {
    backend().gate.close();
    RawClient running(port());
    running.send(post("/v1/completions", kStream));
    backend().gate.waitForStep();
    server().drain();
    EXPECT_FALSE(server().waitDrained(0ms));
    const auto [status, answer] = complete(R"({"model": "fake", "prompt": "abc"})");
    EXPECT_EQ(status, 503);
    EXPECT_EQ(answer["error"]["code"], "shutting_down");
    EXPECT_EQ(call(get("/health")).first, 503);
    backend().gate.open();
    EXPECT_TRUE(running.read().body.ends_with("data: [DONE]\n\n"));
    EXPECT_TRUE(server().waitDrained(30s));
}

TEST_F(Ending, FreesTheBlocksOfAClientThatLeavesAStream) {
    backend().gate.close();
    RawClient client(port());
    client.send(post("/v1/completions", kStream));
    backend().gate.waitForStep();
    client.close();
    // The step itself ends: nobody else waits for it.
    EXPECT_TRUE(backend().allBlocksFree());
    EXPECT_EQ(backend().stats()->cancelled, 1);
}

TEST_F(Ending, FreesTheBlocksOfAClientThatLeavesBeforeItsAnswer) {
    backend().gate.close();
    RawClient client(port());
    client.send(post("/v1/completions", R"({"model": "fake", "prompt": "abc", "max_tokens": 60, "n": 3})"));
    backend().gate.waitForStep();
    client.close();
    EXPECT_TRUE(backend().allBlocksFree());
    EXPECT_EQ(backend().stats()->cancelled, 3);
}

TEST_F(Ending, AnswersThatTheQueueIsFull) {
    m_options.queue = 1;
    m_options.running = 1;
    backend().gate.close();
    RawClient running(port());
    running.send(post("/v1/completions", kStream));
    backend().gate.waitForStep();
    // One of its two texts waits, the other one finds the queue full.
    const Answer answer =
        ask(port(), post("/v1/completions", R"({"model": "fake", "prompt": "abc", "n": 2})"));
    EXPECT_EQ(answer.status, 429);
    EXPECT_TRUE(answer.headers.contains("retry-after"));
    EXPECT_EQ(json::parse(answer.body)["error"]["code"], "queue_full");
    backend().gate.open();
    EXPECT_TRUE(running.read().whole);
    EXPECT_TRUE(backend().allBlocksFree());
}

TEST_F(Ending, AsksToComeBackWhileTheModelIsNotLoaded) {
    backend().isReady = false;
    EXPECT_EQ(complete(R"({"model": "fake", "prompt": "abc"})").first, 503);
    EXPECT_EQ(call(get("/health")).first, 503);
    backend().isReady = true;
    EXPECT_EQ(call(get("/health")).first, 200);
}

} // namespace
} // namespace workbench::testing
