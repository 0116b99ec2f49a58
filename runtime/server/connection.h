#pragma once

#include "runtime/server/http_message.h"

#include <chrono>
#include <string>
#include <string_view>

namespace workbench::http {

/// What one client may take. Times are for the whole of each part, however slowly its bytes drip.
struct Limits {
    std::size_t headBytes = 32 << 10;
    std::size_t bodyBytes = 16 << 20;
    std::size_t connections = 512;          ///< at once; each has a thread
    std::chrono::milliseconds idle{60'000}; ///< between two requests of one connection
    std::chrono::milliseconds head{
        10'000}; ///< from a request's first byte to the end of its head, and before the first
    std::chrono::milliseconds body{60'000};
    std::chrono::milliseconds write{30'000}; ///< without any progress of a client that does not read
};

inline constexpr std::chrono::milliseconds kLinger{500}; ///< that a client may pause in its sending

/// One client's connection. One thread at a time; shutdown() from any.
class Connection {
public:
    /// Takes the socket over.
    Connection(int socket, const Limits& limits);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// A request without its body, or why there is none; a status of 0: the client has left, or was idle too
    /// long.
    Outcome<Request> readRequest();
    /// The body of that request, once: apart, because who may not ask need not be listened to.
    Outcome<std::string> readBody();
    /// For a body that nobody wants, which is in the way of the next request: false while it is still coming.
    bool dropBody();

    /// False when the client has left or reads too slowly.
    bool write(std::string_view bytes);
    /// The client has closed its side, or the connection broke. Does not wait.
    bool peerLeft() const;
    int socket() const { return m_socket; }
    /// Lets every wait end at once.
    void shutdown();
    /// Waits for the client to read the last answer: closing at once could discard it, where the client is
    /// still sending (RFC 9112, 9.6). What it sends is taken, as far as a body may be large, until it pauses.
    void linger(std::chrono::milliseconds most = kLinger);

private:
    using Clock = std::chrono::steady_clock;
    enum class Read { data, end, late };

    Read fill(Clock::time_point deadline);
    std::optional<Failure> more(Clock::time_point deadline, const char* part);
    std::optional<Failure> readHead(std::string& head);
    std::optional<Failure> expectBody(const Request& request);
    std::optional<Failure> readChunks(std::string& body, Clock::time_point deadline);
    std::optional<Failure> take(std::size_t bytes, std::string& into, Clock::time_point deadline);
    std::optional<Failure> takeLine(std::string& line, Clock::time_point deadline);
    bool wait(short events, Clock::time_point deadline) const;
    std::string_view unread() const { return std::string_view(m_buffer).substr(m_at); }

    const int m_socket;
    const Limits& m_limits;
    std::string m_buffer;          ///< received
    std::size_t m_at = 0;          ///< where its unread part begins
    bool m_isNew = true;           ///< nothing has been received yet
    BodyFraming m_body;            ///< of the last request, until it was read
    bool m_waitsToBeAsked = false; ///< the client, before it sends the body (RFC 9110, 10.1.1)
};

} // namespace workbench::http
