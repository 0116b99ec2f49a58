#include "runtime/server/exchange.h"

#include <array>
#include <charconv>

namespace workbench::http {

std::optional<Failure> Exchange::readBody() {
    auto body = m_connection.readBody();
    if (auto* failure = std::get_if<Failure>(&body))
        return std::move(*failure);
    m_request.body = std::get<std::string>(std::move(body));
    return {};
}

void Exchange::decideKeepAlive() {
    m_keepAlive = m_connection.dropBody() && m_keepAlive;
}

bool Exchange::send(const Response& response) {
    m_status = response.status;
    decideKeepAlive();
    std::string bytes = headOf(response, response.body.size(), false, m_keepAlive);
    if (m_request.method != "HEAD")
        bytes += response.body;
    m_whole = m_connection.write(bytes);
    return m_whole;
}

bool Exchange::begin(const Response& head) {
    m_status = head.status;
    m_chunked = m_request.minorVersion == 1;
    m_keepAlive = m_keepAlive && m_chunked;
    decideKeepAlive();
    return m_connection.write(headOf(head, {}, m_chunked, m_keepAlive));
}

bool Exchange::part(std::string_view bytes) {
    if (bytes.empty() || m_request.method == "HEAD")
        return true; // an empty chunk would be the last one
    if (!m_chunked)
        return m_connection.write(bytes);
    std::array<char, 16> size{};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
    std::string chunk(size.data(), static_cast<std::size_t>(end - size.data()));
    chunk.append("\r\n").append(bytes).append("\r\n");
    return m_connection.write(chunk);
}

bool Exchange::end() {
    m_whole = !m_chunked || m_connection.write("0\r\n\r\n");
    return m_whole;
}

} // namespace workbench::http
