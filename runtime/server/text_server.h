#pragma once

#include "runtime/server/http_server.h"
#include "runtime/server/metrics.h"
#include "runtime/server/text_backend.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace workbench {

/// One answered request, for a log.
struct ServedRequest {
    std::string method;
    std::string path;
    int status = 0;     ///< 499: the client left before the end
    double seconds = 0; ///< from its head to the end of the answer
};

struct TextServerOptions {
    http::Server::Options http;
    std::string apiKey;                                 ///< that /v1 asks for; empty: none
    std::function<void(const ServedRequest&)> onServed; ///< from any thread
};

/// The OpenAI-compatible server of one model: /v1/models, /v1/completions, /v1/chat/completions, /health and
/// /metrics.
class TextServer {
public:
    /// `backend` outlives the server.
    static Result<std::unique_ptr<TextServer>> start(TextServerOptions options, TextBackend& backend);
    /// Breaks off what still runs.
    ~TextServer();

    int port() const { return m_http->port(); }
    bool onLoopback() const { return m_http->onLoopback(); }

    /// From now on generating requests get 503; those that run go on.
    void drain();
    /// Whether all of them have ended within `limit`.
    bool waitDrained(std::chrono::milliseconds limit);

private:
    TextServer(TextServerOptions options, TextBackend& backend)
        : m_options(std::move(options)), m_backend(backend) {}

    void handle(http::Exchange& exchange);
    int dispatch(http::Exchange& exchange);
    bool isAllowed(const http::Request& request) const;
    int health(http::Exchange& exchange);
    int receive(http::Exchange& exchange, bool isChat);
    int generate(http::Exchange& exchange, bool isChat, std::chrono::steady_clock::time_point arrival);
    int generateCounted(http::Exchange& exchange, bool isChat, std::chrono::steady_clock::time_point arrival);

    const TextServerOptions m_options;
    TextBackend& m_backend;
    Metrics m_metrics;
    std::mutex m_mutex;
    std::condition_variable m_oneLess;
    std::int64_t m_inFlight = 0;
    bool m_draining = false;
    std::unique_ptr<http::Server> m_http; ///< last: its threads use all else
};

} // namespace workbench
