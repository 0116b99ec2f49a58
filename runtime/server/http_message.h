// HTTP/1.1 messages (RFC 9110, RFC 9112): the part that a server of JSON needs, read strictly. What two
// parsers could read differently (two lengths, a folded line, a bare line feed in the head) is refused, so
// that a proxy in front and this server never disagree about where a request ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace workbench::http {

/// Why a request cannot be served: a status of 400 and above, and one sentence.
struct Failure {
    int status = 400;
    std::string message;
};

template <typename T>
using Outcome = std::variant<T, Failure>;

struct Request {
    std::string method;
    std::string path; ///< without the query
    std::string query;
    int minorVersion = 1;                                    ///< of HTTP/1.x
    std::map<std::string, std::string, std::less<>> headers; ///< by lower-case name
    std::string body;

    /// Empty when it is absent.
    std::string_view header(std::string_view lowerCaseName) const;
    bool keepAlive() const;
};

/// How the body's end is found.
struct BodyFraming {
    bool chunked = false;
    std::uint64_t length = 0;
};

/// Reads the request line and the headers up to, not including, the empty line.
Outcome<Request> parseHead(std::string_view head);
Outcome<BodyFraming> bodyFraming(const Request& request);
/// The size that a chunk's line states, its extensions ignored.
std::optional<std::uint64_t> chunkSize(std::string_view line);

struct Response {
    int status = 200;
    std::string contentType = "application/json";
    std::string body;
    std::map<std::string, std::string> headers; ///< beside Content-Type, Content-Length and Connection
};

const char* reasonPhrase(int status);
/// The head of a response; `length`: of the body, none for a chunked one (`chunked`) or one that the end of
/// the connection ends.
std::string headOf(const Response& response, std::optional<std::size_t> length, bool chunked, bool keepAlive);

bool equalIgnoringCase(std::string_view a, std::string_view b);

} // namespace workbench::http
