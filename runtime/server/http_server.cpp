#include "runtime/server/http_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>

namespace workbench::http {
namespace {

constexpr int kBacklog = 512;
constexpr int kPauseMs = 50; ///< when the process has no more descriptors
/// Threads past the limit of connections, that tell clients so and wait until they have read it.
constexpr std::size_t kRefusers = 32;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Error cannotListen(const std::string& address, const std::string& why) {
    return {ErrorCode::badInput, "the server cannot listen on " + address + ": " + why, address};
}

bool isLoopback(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
    return address.ss_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

int portOf(const sockaddr_storage& address) {
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// A listening socket, or -1 with errno.
int listenOn(const addrinfo& address) {
    const int listener = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -1;
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(listener, address.ai_addr, address.ai_addrlen) == 0 && ::listen(listener, kBacklog) == 0)
        return listener;
    const int error = errno;
    ::close(listener);
    errno = error;
    return -1;
}

} // namespace

Result<std::unique_ptr<Server>> Server::start(Options options, Handler handler, Refusal refusal) {
    std::unique_ptr<Server> server(new Server(std::move(options), std::move(handler), std::move(refusal)));
    if (auto bound = server->bind(); !bound)
        return bound.error();
    server->m_acceptor = std::thread([raw = server.get()] { raw->acceptAll(); });
    return server;
}

Status Server::bind() {
    const std::string address = m_options.host + ":" + std::to_string(m_options.port);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    if (const int error =
            ::getaddrinfo(m_options.host.c_str(), std::to_string(m_options.port).c_str(), &hints, &list))
        return cannotListen(address, ::gai_strerror(error));
    const Addresses addresses(list, ::freeaddrinfo);
    for (const addrinfo* each = list; each && m_listener < 0; each = each->ai_next)
        m_listener = listenOn(*each);
    if (m_listener < 0)
        return cannotListen(address, std::strerror(errno));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(m_listener, reinterpret_cast<sockaddr*>(&bound), &size);
    m_port = portOf(bound);
    m_onLoopback = isLoopback(bound);
    return Ok{};
}

void Server::acceptAll() {
    while (!m_stop.cancelled()) {
        std::array<pollfd, 2> entries{pollfd{m_listener, POLLIN, 0}, pollfd{m_stop.fd(), POLLIN, 0}};
        ::poll(entries.data(), entries.size(), -1);
        if (m_stop.cancelled() || entries[0].revents == 0)
            continue;
        const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket >= 0)
            take(socket);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            ::poll(&entries[1], 1, kPauseMs); // until a connection ends
    }
}

/// Gives the connection a thread. Where there are none left even for a refusal, it is closed without a word.
void Server::take(int socket) {
    auto connection = std::make_unique<Connection>(socket, m_options.limits);
    const std::lock_guard lock(m_mutex);
    const bool isTooMany = m_served >= m_options.limits.connections;
    std::size_t& count = isTooMany ? m_refused : m_served;
    if (m_refused >= kRefusers && isTooMany)
        return;
    try {
        ++count;
        std::thread([this, isTooMany, raw = connection.get()] {
            serve(std::unique_ptr<Connection>(raw), isTooMany);
        }).detach();
        (void)connection.release();      // the thread has it, and waits for the lock before it does anything
    } catch (const std::system_error&) { // no more threads
        --count;
    }
}

void Server::refuse(Connection& connection, const Failure& failure) {
    const Response response = m_refusal(failure);
    if (connection.write(headOf(response, response.body.size(), false, false) + response.body))
        connection.linger();
}

void Server::serve(std::unique_ptr<Connection> connection, bool isTooMany) {
    {
        const std::lock_guard lock(m_mutex);
        m_connections.insert(connection.get());
    }
    if (isTooMany)
        refuse(*connection, {503, "The server has too many connections: try again later."});
    while (!isTooMany && !m_stop.cancelled() && serveOne(*connection)) {
    }
    {
        const std::lock_guard lock(m_mutex);
        m_connections.erase(connection.get());
    }
    connection.reset();
    const std::lock_guard lock(m_mutex);
    --(isTooMany ? m_refused : m_served);
    m_closed.notify_all();
}

/// Whether another request may follow.
bool Server::serveOne(Connection& connection) {
    auto read = connection.readRequest();
    if (const auto* failure = std::get_if<Failure>(&read)) {
        if (failure->status != 0)
            refuse(connection, *failure);
        return false;
    }
    auto& request = std::get<Request>(read);
    const bool keepAlive = request.keepAlive();
    Exchange exchange(connection, std::move(request), keepAlive, m_onLoopback);
    bool mayFollow = false;
    try {
        m_handler(exchange);
        mayFollow = exchange.keepAlive();
    } catch (const std::exception& thrown) { // of a library: our own code has none
        if (!exchange.begun())
            exchange.send(m_refusal({500, std::string("The server failed: ") + thrown.what()}));
    }
    if (!connection.dropBody())
        connection.linger(m_options.limits.body);
    return mayFollow;
}

Server::~Server() {
    m_stop.cancel();
    if (m_acceptor.joinable())
        m_acceptor.join();
    std::unique_lock lock(m_mutex);
    for (Connection* connection : m_connections)
        connection->shutdown();
    m_closed.wait(lock, [this] { return m_served + m_refused == 0; });
    lock.unlock();
    if (m_listener >= 0)
        ::close(m_listener);
}

} // namespace workbench::http
