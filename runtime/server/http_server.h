#pragma once

#include "core/support/cancel.h"
#include "core/support/result.h"
#include "runtime/server/exchange.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace workbench::http {

/// Accepts connections and gives each a thread, up to the limit. A thread for each is what waiting for the
/// next token of some hundred clients costs least effort in; where more come, a proxy stands in front.
///
/// Why this is no library: cpp-httplib 0.11.4, Debian 12's, hides its socket from a handler, so that a client
/// that leaves a queued or unstreamed request is never noticed; it bounds neither heads, chunked bodies nor
/// connections (a 300 KB request took 2 GB, 200 clients that drip bytes stayed for ever) and answers a body
/// with two lengths.
class Server {
public:
    /// Answers one request; runs on the connection's thread. What it throws becomes a 500.
    using Handler = std::function<void(Exchange&)>;
    /// Makes the answer to what is no request (400, 408, 413, 431 ...). What is wrong with a body, the
    /// handler answers, who reads it.
    using Refusal = std::function<Response(const Failure&)>;

    struct Options {
        std::string host = "127.0.0.1";
        int port = 8000; ///< 0: any that is free
        Limits limits;
    };

    /// Binds and begins to serve. An Error names the address and why it cannot be had.
    static Result<std::unique_ptr<Server>> start(Options options, Handler handler, Refusal refusal);
    /// Breaks off what still runs, and waits for it.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    int port() const { return m_port; }
    bool onLoopback() const { return m_onLoopback; } ///< only this machine can reach it

private:
    Server(Options options, Handler handler, Refusal refusal)
        : m_options(std::move(options)), m_handler(std::move(handler)), m_refusal(std::move(refusal)) {}

    Status bind();
    void acceptAll();
    void take(int socket);
    void serve(std::unique_ptr<Connection> connection, bool isTooMany);
    bool serveOne(Connection& connection);
    void refuse(Connection& connection, const Failure& failure);

    const Options m_options;
    const Handler m_handler;
    const Refusal m_refusal;
    int m_listener = -1;
    int m_port = 0;
    bool m_onLoopback = true;
    CancelToken m_stop;

    std::mutex m_mutex;
    std::condition_variable m_closed;
    std::set<Connection*> m_connections;
    std::size_t m_served = 0;  ///< connections with a thread
    std::size_t m_refused = 0; ///< those that are told that there are too many
    std::thread m_acceptor;
};

} // namespace workbench::http
