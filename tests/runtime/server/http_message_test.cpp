#include "runtime/server/http_message.h"

#include <gtest/gtest.h>

namespace workbench::http {
namespace {

int statusOf(std::string_view head) {
    const auto parsed = parseHead(head);
    const auto* failure = std::get_if<Failure>(&parsed);
    return failure ? failure->status : 200;
}

Request request(std::string_view head) {
    return std::get<Request>(parseHead(head));
}

int framingStatus(std::string_view headers) {
    const auto framing = bodyFraming(request("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(headers)));
    const auto* failure = std::get_if<Failure>(&framing);
    return failure ? failure->status : 200;
}

TEST(HttpHead, SplitsPathAndQueryAndFindsHeadersInAnyCase) {
    const Request read =
        request("GET /v1/models?limit=3 HTTP/1.1\r\nHost: a\r\nX-Thing:  two words \r\nx-thing: more");
    EXPECT_EQ(read.path, "/v1/models");
    EXPECT_EQ(read.query, "limit=3");
    EXPECT_EQ(read.header("x-thing"), "two words, more");
}

TEST(HttpHead, ReadsEscapesAndTargetsWithAHost) {
    EXPECT_EQ(request("GET /v1/models/org%2Fname HTTP/1.1\r\nHost: a").path, "/v1/models/org/name");
    EXPECT_EQ(request("GET http://a:80/health?x HTTP/1.1\r\nHost: a").path, "/health");
    EXPECT_EQ(request("GET http://a HTTP/1.1\r\nHost: a").path, "/");
    EXPECT_EQ(statusOf("GET /% HTTP/1.1\r\nHost: a"), 400);
    EXPECT_EQ(statusOf("GET /%g0 HTTP/1.1\r\nHost: a"), 400);
    EXPECT_EQ(statusOf("GET /%0 HTTP/1.1\r\nHost: a"), 400);
}

TEST(HttpHead, KeepsAConnectionUnlessEitherSideMayNot) {
    EXPECT_TRUE(request("GET / HTTP/1.1\r\nHost: a").keepAlive());
    EXPECT_FALSE(request("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close").keepAlive());
    EXPECT_FALSE(request("GET / HTTP/1.0").keepAlive());
    EXPECT_TRUE(request("GET / HTTP/1.0\r\nConnection: Keep-Alive").keepAlive());
}

TEST(HttpHead, RefusesWhatTwoReadersCouldReadDifferently) {
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nHost: a\r\n folded"), 400);
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nHost : a"), 400);
    EXPECT_EQ(statusOf("GET / HTTP/1.1\nHost: a"), 400);
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nHost: a\r\nX: a\nb"), 400);
    EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1"), 400);
    EXPECT_EQ(statusOf("GET  /  HTTP/1.1\r\nHost: a"), 400);
    EXPECT_EQ(statusOf(std::string_view("GET /\0 HTTP/1.1\r\nHost: a", 24)), 400);
}

TEST(HttpHead, RefusesWhatIsNoHttp) {
    EXPECT_EQ(statusOf(""), 400);
    EXPECT_EQ(statusOf("\x16\x03\x01\x02"), 400); // TLS
    EXPECT_EQ(statusOf("PRI * HTTP/2.0"), 505);
    EXPECT_EQ(statusOf("GET / FTP/1.0"), 400);
    EXPECT_EQ(statusOf("GET / HTTP/1.1"), 400); // no Host
    EXPECT_EQ(statusOf("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a"), 414);
}

TEST(HttpBody, HasOneLengthOrChunks) {
    EXPECT_EQ(framingStatus("Content-Length: 12"), 200);
    EXPECT_EQ(framingStatus("Transfer-Encoding: CHUNKED"), 200);
    EXPECT_EQ(framingStatus("Content-Length: 12\r\nTransfer-Encoding: chunked"), 400);
    EXPECT_EQ(framingStatus("Content-Length: -1"), 400);
    EXPECT_EQ(framingStatus("Content-Length: +1"), 400);
    EXPECT_EQ(framingStatus("Content-Length: 0x10"), 400);
    EXPECT_EQ(framingStatus("Content-Length: 1, 1"), 400);
    EXPECT_EQ(framingStatus("Content-Length:"), 400);
    EXPECT_EQ(framingStatus("Content-Length: 99999999999999999999"), 413);
    EXPECT_EQ(framingStatus("Transfer-Encoding: gzip, chunked"), 501);
}

TEST(HttpBody, ReadsAChunksSizeInHexadecimalAlone) {
    EXPECT_EQ(chunkSize("1aF; name=value"), 0x1AFU);
    EXPECT_FALSE(chunkSize(""));
    EXPECT_FALSE(chunkSize("-1"));
    EXPECT_FALSE(chunkSize("0x10"));
    EXPECT_FALSE(chunkSize("fffffffffffffffff"));
}

} // namespace
} // namespace workbench::http
