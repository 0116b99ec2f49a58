#include "raw_client.h"
#include "runtime/server/http_server.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace workbench::testing {
namespace {

using namespace std::chrono_literals;
using http::Exchange;

/// A server that answers with what it was sent.
class HttpServer : public ::testing::Test {
protected:
    HttpServer() {
        m_options.port = 0;
        m_options.limits.headBytes = 2048;
        m_options.limits.bodyBytes = 1 << 20;
    }
    int port() {
        if (!m_server)
            start();
        return m_server->port();
    }
    void start() {
        auto started = http::Server::start(
            m_options,
            [](Exchange& exchange) {
                if (exchange.request().path == "/throw")
                    throw std::runtime_error("a library failed");
                if (exchange.request().path == "/uninterested") {
                    exchange.send({200, "text/plain", "no", {}});
                    return;
                }
                if (const auto failure = exchange.readBody()) {
                    exchange.send({failure->status, "text/plain", failure->message, {}});
                    return;
                }
                if (exchange.request().path == "/chunks") {
                    exchange.begin({200, "text/plain", {}, {}});
                    exchange.part("one ");
                    exchange.part("two");
                    exchange.end();
                    return;
                }
                exchange.send(
                    {200, "text/plain", exchange.request().path + ":" + exchange.request().body, {}});
            },
            [](const http::Failure& failure) {
                return http::Response{failure.status, "text/plain", failure.message, {}};
            });
        ASSERT_TRUE(started) << started.error().message;
        m_server = std::move(started).value();
    }

    http::Server::Options m_options;
    std::unique_ptr<http::Server> m_server;
};

TEST_F(HttpServer, GivesUpOnAClientThatNeverSaysAnythingAsSoonAsOnOneThatIsSlow) {
    m_options.limits.head = 100ms;
    m_options.limits.idle = 60s;
    RawClient silent(port());
    EXPECT_TRUE(silent.isClosed());
}

TEST_F(HttpServer, TellsAClientThatIsStillSendingThatThereAreTooMany) {
    m_options.limits.connections = 1;
    RawClient first(port());
    first.send(get("/a"));
    EXPECT_EQ(first.read().status, 200);
    for (int i = 0; i < 20; ++i) {
        RawClient other(port());
        other.send(post("/x", std::string(200'000, 'x')));
        EXPECT_EQ(other.read().status, 503) << i;
    }
}

TEST_F(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
    RawClient client(port());
    client.send(post("/a", "1") + get("/b") + post("/c", "3"));
    EXPECT_EQ(client.read().body, "/a:1");
    EXPECT_EQ(client.read().body, "/b:");
    EXPECT_EQ(client.read().body, "/c:3");
}

TEST_F(HttpServer, TakesARequestThatComesByteByByte) {
    RawClient client(port());
    for (const char byte : post("/slow", "abc"))
        client.send({&byte, 1});
    EXPECT_EQ(client.read().body, "/slow:abc");
}

TEST_F(HttpServer, JoinsTheChunksOfABody) {
    RawClient client(port());
    client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                "chunked\r\n\r\n3\r\nabc\r\n1;ext=1\r\nd\r\n0\r\nTrailer: "
                "1\r\n\r\n" +
                get("/next"));
    EXPECT_EQ(client.read().body, "/x:abcd");
    EXPECT_EQ(client.read().body, "/next:");
}

TEST_F(HttpServer, RefusesBrokenChunks) {
    const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(ask(port(), head + "zz\r\n").status, 400);
    EXPECT_EQ(ask(port(), head + "3\r\nabcd\r\n").status, 400);
    EXPECT_EQ(ask(port(), head + "ffffffffff\r\n").status, 413);
    EXPECT_EQ(ask(port(), head + std::string(2000, '1')).status, 400);
}

TEST_F(HttpServer, AsksForABodyThatWaitsToBeAskedFor) {
    RawClient client(port());
    client.send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    ASSERT_TRUE(client.waitFor("100 Continue\r\n\r\n"));
    client.send("ok");
    ASSERT_TRUE(client.waitFor("/x:ok"));
    EXPECT_EQ(ask(port(), post("/x", "a", "Expect: miracles\r\n")).status, 417);
}

TEST_F(HttpServer, RefusesABodyBeforeItIsSent) {
    RawClient client(port());
    client.send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9999999999\r\n\r\n");
    EXPECT_EQ(client.read().status, 413);
    EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServer, NeitherAsksForNorTakesABodyThatNobodyWants) {
    RawClient waiting(port());
    waiting.send(
        "POST /uninterested HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(waiting.read().status, 200);
    EXPECT_TRUE(waiting.isClosed());
    // What is a body is never read as the next request.
    RawClient small(port());
    small.send(post("/uninterested", get("/smuggled")) + get("/next"));
    EXPECT_EQ(small.read().body, "no");
    EXPECT_EQ(small.read().body, "/next:");
    RawClient large(port());
    large.send(post("/uninterested", std::string(900'000, 'x')) + get("/next"));
    const Answer last = large.read();
    EXPECT_EQ(last.status, 200);
    EXPECT_EQ(last.headers.at("connection"), "close");
    EXPECT_TRUE(large.isClosed());
    RawClient without(port());
    without.send(post("/uninterested", "") + get("/next"));
    EXPECT_EQ(without.read().status, 200);
    EXPECT_EQ(without.read().body, "/next:");
}

TEST_F(HttpServer, LetsAClientThatSendsSlowlyReadWhyItsBodyIsNotWanted) {
    RawClient client(port());
    client.send("POST /uninterested HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    for (int part = 0; part < 10; ++part) { // longer than a client may pause
        ASSERT_TRUE(client.send(std::string(10, 'x'))) << part;
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_EQ(client.read().body, "no");
}

TEST_F(HttpServer, LimitsTheHead) {
    EXPECT_EQ(ask(port(), get("/", "X: " + std::string(3000, 'a') + "\r\n")).status, 431);
    RawClient endless(port());
    endless.send("GET / HTTP/1.1\r\n");
    for (int i = 0; i < 8; ++i)
        endless.send("X-Header: " + std::string(500, 'a') + "\r\n");
    EXPECT_EQ(endless.read().status, 431);
    std::string many;
    for (int i = 0; i < 120; ++i)
        many += "a" + std::to_string(i) + ":b\r\n";
    EXPECT_EQ(ask(port(), get("/", many)).status, 431);
}

TEST_F(HttpServer, EndsAHeadThatDripsForTooLong) {
    m_options.limits.head = 200ms;
    m_options.limits.headBytes = std::size_t{1} << 30;
    RawClient silent(port());
    silent.send("GET / HT");
    EXPECT_EQ(silent.read().status, 408);
    // Progress does not prolong the time.
    RawClient dripping(port());
    dripping.send("GET / HTTP/1.1\r\nX: ");
    while (dripping.send("a")) {
    }
    EXPECT_EQ(ask(port(), get("/")).status, 200);
}

TEST_F(HttpServer, EndsABodyThatDripsForTooLong) {
    m_options.limits.body = 200ms;
    RawClient client(port());
    client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
    EXPECT_EQ(client.read().status, 408);
    EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServer, ClosesAnIdleConnectionWithoutAWord) {
    m_options.limits.idle = 100ms;
    RawClient client(port());
    EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServer, RefusesMoreConnectionsThanItHasThreadsFor) {
    m_options.limits.connections = 2;
    RawClient first(port());
    RawClient second(port());
    first.send(get("/1"));
    second.send(get("/2"));
    EXPECT_EQ(first.read().status, 200);
    EXPECT_EQ(second.read().status, 200);
    RawClient third(port());
    EXPECT_EQ(third.read().status, 503);
    EXPECT_TRUE(third.isClosed());
}

TEST_F(HttpServer, SendsChunksToNewClientsAndPlainBytesToOldOnes) {
    EXPECT_EQ(ask(port(), get("/chunks")).body, "one two");
    RawClient old(port());
    old.send("GET /chunks HTTP/1.0\r\n\r\n");
    ASSERT_TRUE(old.waitFor("\r\n\r\none two"));
}

TEST_F(HttpServer, AnswersHeadWithoutABody) {
    RawClient client(port());
    client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + get("/b"));
    ASSERT_TRUE(client.waitFor("Content-Length: 3"));
    ASSERT_TRUE(client.waitFor("/b:"));
}

TEST_F(HttpServer, SaysThatItFailedAndGoesOn) {
    EXPECT_EQ(ask(port(), get("/throw")).status, 500);
    EXPECT_EQ(ask(port(), get("/a")).status, 200);
}

TEST_F(HttpServer, NamesAnAddressThatIsTaken) {
    http::Server::Options taken;
    taken.port = port();
    auto second = http::Server::start(
        taken, [](Exchange&) {}, [](const http::Failure&) { return http::Response{}; });
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::badInput);
    EXPECT_NE(second.error().message.find("127.0.0.1:" + std::to_string(port())), std::string::npos);
}

TEST_F(HttpServer, EndsAtOnceWithClientsThatWait) {
    RawClient idle(port());
    RawClient half(port());
    half.send("GET / HTTP/1.1\r\n");
    m_server.reset();
    EXPECT_TRUE(idle.isClosed());
    EXPECT_TRUE(half.isClosed());
}

} // namespace
} // namespace workbench::testing
