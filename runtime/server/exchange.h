#pragma once

#include "runtime/server/connection.h"

#include <optional>
#include <string>
#include <string_view>

namespace workbench::http {

/// A request and the way to its answer: either send(), or begin() and then parts. Functions return false when
/// the client has left. One thread at a time.
class Exchange {
public:
    Exchange(Connection& connection, Request request, bool keepAlive, bool onLoopback)
        : m_connection(connection), m_request(std::move(request)), m_keepAlive(keepAlive),
          m_onLoopback(onLoopback) {}

    const Request& request() const { return m_request; } ///< its body is empty before readBody()
    Connection& connection() { return m_connection; }
    bool onLoopback() const { return m_onLoopback; } ///< the server's address is for this machine alone

    /// Why the body did not come; a status of 0: the client has left. Without it the answer is the
    /// connection's last one where a body is still coming.
    std::optional<Failure> readBody();

    bool send(const Response& response);
    /// Of a response whose length nobody knows yet: chunks, or for HTTP/1.0 all until the connection ends.
    bool begin(const Response& head);
    bool part(std::string_view bytes);
    bool end();

    bool begun() const { return m_status != 0; }
    bool whole() const { return m_whole; }  ///< the answer was sent to its end
    int status() const { return m_status; } ///< 0: nothing was sent
    bool keepAlive() const { return m_keepAlive && m_whole; }
    void closeAfter() { m_keepAlive = false; } ///< before the answer begins

private:
    void decideKeepAlive();

    Connection& m_connection;
    Request m_request;
    bool m_keepAlive;
    bool m_onLoopback;
    bool m_chunked = false;
    bool m_whole = false;
    int m_status = 0;
};

} // namespace workbench::http
