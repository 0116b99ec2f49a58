#include "runtime/server/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace workbench::http {
namespace {

constexpr std::size_t kLongestChunkLine = 1 << 10;
const Failure kGone{0, "The client has left."};

Failure tooLarge(std::size_t bytes) {
    return {413, "The body is larger than this server's limit of " + std::to_string(bytes) + " bytes."};
}

} // namespace

Connection::Connection(int socket, const Limits& limits) : m_socket(socket), m_limits(limits) {
    ::fcntl(m_socket, F_SETFL, ::fcntl(m_socket, F_GETFL) | O_NONBLOCK);
    const int on = 1; // tokens are small and must not wait for each other
    ::setsockopt(m_socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Connection::~Connection() {
    ::close(m_socket);
}

bool Connection::wait(short events, Clock::time_point deadline) const {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd entry{m_socket, events, 0};
        const int ready =
            ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

Connection::Read Connection::fill(Clock::time_point deadline) {
    std::array<char, 16 << 10> bytes;
    m_buffer.erase(0, std::exchange(m_at, 0));
    for (;;) {
        const ssize_t count = ::recv(m_socket, bytes.data(), bytes.size(), 0);
        if (count > 0) {
            m_buffer.append(bytes.data(), static_cast<std::size_t>(count));
            return Read::data;
        }
        if (count == 0)
            return Read::end;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait(POLLIN, deadline))
                return Read::late;
        } else if (errno != EINTR) {
            return Read::end;
        }
    }
}

Outcome<Request> Connection::readRequest() {
    std::string head;
    if (auto failure = readHead(head))
        return *std::move(failure);
    auto parsed = parseHead(head);
    if (const auto* request = std::get_if<Request>(&parsed))
        if (auto failure = expectBody(*request))
            return *std::move(failure);
    return parsed;
}

std::optional<Failure> Connection::expectBody(const Request& request) {
    const auto framing = bodyFraming(request);
    if (const auto* failure = std::get_if<Failure>(&framing))
        return *failure;
    m_body = std::get<BodyFraming>(framing);
    if (m_body.length > m_limits.bodyBytes)
        return tooLarge(m_limits.bodyBytes);
    const auto expect = request.header("expect");
    if (!expect.empty() && !equalIgnoringCase(expect, "100-continue"))
        return Failure{417, "The only expectation that this server knows is '100-continue'."};
    m_waitsToBeAsked = !expect.empty() && request.minorVersion == 1;
    return {};
}

Outcome<std::string> Connection::readBody() {
    if (m_waitsToBeAsked && (m_body.chunked || m_body.length > unread().size()))
        if (!write("HTTP/1.1 100 Continue\r\n\r\n"))
            return kGone;
    const auto deadline = Clock::now() + m_limits.body;
    std::string body;
    if (auto failure = m_body.chunked ? readChunks(body, deadline) : take(m_body.length, body, deadline))
        return *std::move(failure);
    m_body = {};
    return body;
}

std::optional<Failure> Connection::readHead(std::string& head) {
    // Empty lines before a request come from clients that end a body with one (RFC 9112, 2.2).
    while (unread().starts_with("\r\n"))
        m_at += 2;
    // Who connects has something to say; who says nothing must not hold a place as long as one between
    // requests.
    const auto patience = std::exchange(m_isNew, false) ? m_limits.head : m_limits.idle;
    if (unread().size() < 2 && fill(Clock::now() + patience) != Read::data)
        return kGone;
    const auto deadline = Clock::now() + m_limits.head;
    std::size_t searched = 0;
    for (;;) {
        while (searched == 0 && unread().starts_with("\r\n"))
            m_at += 2;
        const std::size_t end = unread().find("\r\n\r\n", searched);
        if (std::min(end, unread().size()) > m_limits.headBytes)
            return Failure{431, "The request's head is larger than this server's limit of " +
                                    std::to_string(m_limits.headBytes) + " bytes."};
        if (end != std::string::npos) {
            head = unread().substr(0, end);
            m_at += end + 4;
            return {};
        }
        searched = unread().size() - std::min<std::size_t>(unread().size(), 3);
        if (auto failure = more(deadline, "head"))
            return failure;
    }
}

/// Waits for more bytes of a request that has begun.
std::optional<Failure> Connection::more(Clock::time_point deadline, const char* part) {
    const Read read = Clock::now() < deadline ? fill(deadline) : Read::late;
    if (read == Read::late)
        return Failure{408, std::string("The request's ") + part + " did not arrive in time."};
    return read == Read::end ? std::optional(kGone) : std::nullopt;
}

std::optional<Failure> Connection::take(std::size_t bytes, std::string& into, Clock::time_point deadline) {
    for (;;) {
        const std::string_view part = unread().substr(0, bytes);
        into += part;
        m_at += part.size();
        bytes -= part.size();
        if (bytes == 0)
            return {};
        if (auto failure = more(deadline, "body"))
            return failure;
    }
}

std::optional<Failure> Connection::takeLine(std::string& line, Clock::time_point deadline) {
    for (;;) {
        const std::size_t end = unread().substr(0, kLongestChunkLine).find("\r\n");
        if (end != std::string_view::npos) {
            line = unread().substr(0, end);
            m_at += end + 2;
            return {};
        }
        if (unread().size() >= kLongestChunkLine)
            return Failure{400, "A line of the chunked body is too long."};
        if (auto failure = more(deadline, "body"))
            return failure;
    }
}

std::optional<Failure> Connection::readChunks(std::string& body, Clock::time_point deadline) {
    std::string line;
    for (;;) {
        if (auto failure = takeLine(line, deadline))
            return failure;
        const auto size = chunkSize(line);
        if (!size)
            return Failure{400, "A chunk of the body does not begin with its size."};
        if (*size > m_limits.bodyBytes - body.size())
            return tooLarge(m_limits.bodyBytes);
        if (*size == 0)
            break;
        if (auto failure = take(*size, body, deadline))
            return failure;
        if (auto failure = takeLine(line, deadline))
            return failure;
        if (!line.empty())
            return Failure{400, "A chunk of the body is longer than its size."};
    }
    for (std::size_t trailers = 0; trailers <= m_limits.headBytes; trailers += line.size()) {
        if (auto failure = takeLine(line, deadline))
            return failure;
        if (line.empty())
            return {};
    }
    return Failure{431, "The trailers of the chunked body are too large."};
}

bool Connection::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count > 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait(POLLOUT, Clock::now() + m_limits.write))
                return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool Connection::peerLeft() const {
    pollfd entry{m_socket, POLLRDHUP, 0};
    return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Connection::shutdown() {
    ::shutdown(m_socket, SHUT_RDWR);
}

bool Connection::dropBody() {
    if (m_body.chunked || m_body.length > unread().size())
        return false;
    m_at += m_body.length;
    m_body = {};
    return true;
}

void Connection::linger(std::chrono::milliseconds most) {
    ::shutdown(m_socket, SHUT_WR);
    const auto end = Clock::now() + most;
    std::size_t left = m_limits.bodyBytes;
    while (Clock::now() < end && fill(std::min(end, Clock::now() + kLinger)) == Read::data &&
           left > unread().size()) {
        left -= unread().size();
        m_at = m_buffer.size();
    }
}

} // namespace workbench::http
