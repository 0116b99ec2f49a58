#include "raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace workbench::testing {
namespace {

constexpr timeval kPatience{60, 0}; ///< a sanitizer on a busy machine is slow

} // namespace

RawClient::RawClient(int port) : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::setsockopt(m_socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(m_socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    if (::connect(m_socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        close();
}

RawClient::~RawClient() {
    close();
}

void RawClient::close() {
    if (m_socket >= 0)
        ::close(m_socket);
    m_socket = -1;
}

bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool RawClient::more() {
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(m_socket, bytes.data(), bytes.size(), 0);
    if (count <= 0)
        return false;
    m_buffer.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

bool RawClient::waitFor(std::string_view text) {
    while (m_buffer.find(text) == std::string::npos)
        if (!more())
            return false;
    return true;
}

bool RawClient::isClosed() {
    return m_buffer.empty() && !more();
}

std::string RawClient::takeLine() {
    if (!waitFor("\r\n"))
        return {};
    const std::size_t end = m_buffer.find("\r\n");
    const std::string line = m_buffer.substr(0, end);
    m_buffer.erase(0, end + 2);
    return line;
}

std::string RawClient::take(std::size_t bytes) {
    while (m_buffer.size() < bytes)
        if (!more())
            break;
    const std::string taken = m_buffer.substr(0, bytes);
    m_buffer.erase(0, taken.size());
    return taken;
}

Answer RawClient::read() {
    Answer answer;
    const std::string first = takeLine();
    if (first.size() < 12)
        return answer;
    answer.status = std::atoi(first.c_str() + 9);
    for (std::string line = takeLine(); !line.empty(); line = takeLine()) {
        std::string name = line.substr(0, line.find(':'));
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        answer.headers[name] = line.substr(std::min(line.size(), name.size() + 2));
    }
    if (answer.headers["transfer-encoding"] != "chunked") {
        const auto length = static_cast<std::size_t>(std::atoll(answer.headers["content-length"].c_str()));
        answer.body = take(length);
        answer.whole = answer.body.size() == length;
        return answer;
    }
    for (;;) {
        const std::size_t size = std::strtoull(takeLine().c_str(), nullptr, 16);
        if (size == 0)
            break;
        answer.body += take(size);
        takeLine();
    }
    answer.whole = true;
    return answer;
}

std::string post(const std::string& path, const std::string& body, const std::string& headers) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string get(const std::string& path, const std::string& headers) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

Answer ask(int port, const std::string& request) {
    RawClient client(port);
    client.send(request);
    return client.read();
}

} // namespace workbench::testing
