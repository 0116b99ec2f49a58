#pragma once

#include <map>
#include <string>
#include <string_view>

namespace workbench::testing {

/// What came back. A status of 0: nothing, the connection was closed.
struct Answer {
    int status = 0;
    std::map<std::string, std::string> headers; ///< by lower-case name
    std::string body;                           ///< chunks joined
    bool whole = false;                         ///< as long as it said
};

/// A client that says exactly what it is told to, also what no library would.
class RawClient {
public:
    explicit RawClient(int port);
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    /// False when the server has closed the connection.
    bool send(std::string_view bytes);
    Answer read();
    /// Until `text` has come; false when the connection ended before. What came stays for read().
    bool waitFor(std::string_view text);
    /// Nothing comes any more: the server has closed the connection.
    bool isClosed();
    void close(); ///< as a client that leaves

private:
    bool more();
    std::string takeLine();
    std::string take(std::size_t bytes);

    int m_socket;
    std::string m_buffer;
};

std::string post(const std::string& path, const std::string& body, const std::string& headers = {});
std::string get(const std::string& path, const std::string& headers = {});
/// Sends one request on a connection of its own.
Answer ask(int port, const std::string& request);

} // namespace workbench::testing
