#include "fake_backend.h"

#include <chrono>
#include <thread>

namespace workbench::testing {
namespace {

class Routes : public ServerFixture {};

TEST_F(Routes, NameTheModel) {
    const auto [status, answer] = call(get("/v1/models"));
    EXPECT_EQ(status, 200);
    EXPECT_EQ(answer["data"][0]["id"], "fake");
    EXPECT_EQ(call(get("/v1/models/fake")).second["object"], "model");
    EXPECT_EQ(call(get("/v1/models/other")).first, 404);
}

TEST_F(Routes, RefuseOtherAddressesAndMethods) {
    EXPECT_EQ(call(get("/")).first, 404);
    const Answer answer = ask(port(), get("/v1/completions"));
    EXPECT_EQ(answer.status, 405);
    EXPECT_EQ(answer.headers.at("allow"), "POST");
    EXPECT_EQ(ask(port(), "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
    // The client looks for the body that the head states until the server closes.
    EXPECT_EQ(ask(port(), "HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status,
              200);
    EXPECT_EQ(call(post("/health", "{}")).first, 405);
}

TEST_F(Routes, AskForTheKey) {
    m_serverOptions.apiKey = "secret";
    EXPECT_EQ(call(get("/v1/models")).first, 401);
    EXPECT_EQ(call(get("/v1/models", "Authorization: Bearer secreT\r\n")).first, 401);
    EXPECT_EQ(call(get("/v1/models", "Authorization: Bearer secret2\r\n")).first, 401);
    EXPECT_EQ(call(get("/v1/models", "Authorization: Bearer \r\n")).first, 401);
    EXPECT_EQ(call(get("/v1/models", "Authorization: bearer secret\r\n")).first, 200);
    EXPECT_EQ(call(get("/health")).first, 200);
}

TEST_F(Routes, DoNotListenToWhoHasNoKey) {
    m_serverOptions.apiKey = "secret";
    const auto statusOf = [&](const std::string& key) {
        RawClient client(port());
        client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Authorization: Bearer " +
                    key + "\r\nContent-Length: 16000000\r\n\r\n{"); // and no more
        return client.read().status;
    };
    m_serverOptions.http.limits.body = std::chrono::milliseconds(100);
    EXPECT_EQ(statusOf("wrong"), 401);
    EXPECT_EQ(statusOf("secret"), 408);
}

TEST_F(Routes, AnswerOnThisMachineToNamesThatNoOtherCanTake) {
    const auto statusFor = [&](const std::string& host) {
        return ask(port(), "GET /v1/models HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
            .status;
    };
    for (const char* own : {"localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000",
                            "localhost.", "models.localhost:8000"})
        EXPECT_EQ(statusFor(own), 200) << own;
    for (const char* other :
         {"evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil"})
        EXPECT_EQ(statusFor(other), 403) << other;
}

TEST_F(Routes, AnswerToAnyNameWithAKey) {
    m_serverOptions.apiKey = "secret";
    EXPECT_EQ(ask(port(),
                  "GET /v1/models HTTP/1.1\r\nHost: models.example\r\nAuthorization: Bearer secret\r\n"
                  "Connection: close\r\n\r\n")
                  .status,
              200);
}

TEST_F(Routes, CountRequestsTokensAndBlocks) {
    complete(R"({"model": "fake", "prompt": "abc", "max_tokens": 5})");
    complete("{");
    Answer answer = ask(port(), get("/metrics"));
    EXPECT_TRUE(answer.headers.at("content-type").starts_with("text/plain; version=0.0.4"));
    const auto has = [&](const std::string& line) {
        return answer.body.find(line + "\n") != std::string::npos;
    };
    // A request is counted once its answer was sent: the client may have it a moment before.
    for (int look = 0;
         look < 200 && !has(R"(workbench_requests_total{endpoint="/v1/completions",status="400"} 1)");
         ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        answer = ask(port(), get("/metrics"));
    }
    EXPECT_TRUE(has("workbench_requests_total{endpoint=\"/v1/completions\",status=\"200\"} 1"))
        << answer.body;
    EXPECT_TRUE(has("workbench_requests_total{endpoint=\"/v1/completions\",status=\"400\"} 1"))
        << answer.body;
    EXPECT_TRUE(has("workbench_prompt_tokens_total 3"));
    EXPECT_TRUE(has("workbench_generated_tokens_total 5"));
    EXPECT_TRUE(has("workbench_requests_in_flight 0"));
    EXPECT_TRUE(has("workbench_kv_blocks_free 512"));
    EXPECT_TRUE(has("workbench_time_to_first_token_seconds_count 1"));
}

} // namespace
} // namespace workbench::testing
