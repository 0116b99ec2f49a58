#include "runtime/server/text_server.h"

#include "runtime/server/endpoints.h"
#include "runtime/server/text_answer.h"

namespace workbench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

int answer(http::Exchange& exchange, const http::Response& response) {
    exchange.send(response);
    return response.status;
}

int refuse(http::Exchange& exchange, const ApiError& error) {
    return answer(exchange, toResponse(error));
}

json modelObject(const ServedModel& model) {
    return {{"id", model.id},
            {"object", "model"},
            {"created", model.created},
            {"owned_by", "fusion-workbench"},
            {"max_model_len", model.longestTokens}};
}

http::Response refusal(const http::Failure& failure) {
    return toResponse({failure.status, failure.message, "", ""});
}

int methodNotAllowed(http::Exchange& exchange, const char* allowed) {
    http::Response response = toResponse({405, "This address takes " + std::string(allowed) + ".", "", ""});
    response.headers["Allow"] = allowed;
    return answer(exchange, response);
}

/// A page in a browser can post to this machine without asking, but not with this type: without the check any
/// page could use the server.
std::optional<ApiError> checkContentType(const http::Request& request) {
    std::string_view type = request.header("content-type");
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' '))
        type.remove_suffix(1);
    if (http::equalIgnoringCase(type, "application/json"))
        return {};
    return ApiError{415, "The body must be JSON, sent with 'Content-Type: application/json'.", "", ""};
}

/// "localhost", "127.0.0.1:8000", "[::1]", the name that the server was started under: names that no page can
/// have.
bool isOwnName(std::string_view host, std::string_view startedUnder) {
    if (host.empty()) // HTTP/1.0: no page speaks that
        return true;
    if (host.starts_with('['))
        return host.find(']') != std::string_view::npos;
    host = host.substr(0, host.rfind(':'));
    if (host.ends_with('.'))
        host.remove_suffix(1);
    constexpr std::string_view kLocal = ".localhost"; // RFC 6761, 6.3: names below it are this machine's, too
    return http::equalIgnoringCase(host, "localhost") || http::equalIgnoringCase(host, startedUnder) ||
           (host.size() > kLocal.size() &&
            http::equalIgnoringCase(host.substr(host.size() - kLocal.size()), kLocal)) ||
           (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

/// Takes equally long wherever the difference is.
bool equalKeys(std::string_view given, std::string_view key) {
    unsigned difference = given.size() == key.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i)
        difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(key[i % key.size()]);
    return difference == 0;
}

/// The endpoint's name in the metrics: a fixed set, whatever clients ask for.
std::string endpointOf(const std::string& path) {
    for (const char* known : {"/v1/models", "/v1/completions", "/v1/chat/completions", "/health", "/metrics"})
        if (path == known)
            return path;
    return path.starts_with("/v1/models/") ? "/v1/models" : "other";
}

} // namespace

Result<std::unique_ptr<TextServer>> TextServer::start(TextServerOptions options, TextBackend& backend) {
    std::unique_ptr<TextServer> server(new TextServer(std::move(options), backend));
    auto http = http::Server::start(
        server->m_options.http, [raw = server.get()](http::Exchange& exchange) { raw->handle(exchange); },
        refusal);
    if (!http)
        return http.error();
    server->m_http = std::move(http).value();
    return server;
}

TextServer::~TextServer() {
    m_http.reset();
}

void TextServer::drain() {
    const std::lock_guard lock(m_mutex);
    m_draining = true;
}

bool TextServer::waitDrained(std::chrono::milliseconds limit) {
    std::unique_lock lock(m_mutex);
    return m_oneLess.wait_for(lock, limit, [this] { return m_inFlight == 0; });
}

void TextServer::handle(http::Exchange& exchange) {
    const auto start = Clock::now();
    const int status = dispatch(exchange);
    const http::Request& request = exchange.request();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    m_metrics.addRequest(endpointOf(request.path), status, seconds);
    if (m_options.onServed)
        m_options.onServed({request.method, request.path, status, seconds});
}

bool TextServer::isAllowed(const http::Request& request) const {
    if (m_options.apiKey.empty())
        return true;
    std::string_view given = request.header("authorization");
    if (given.size() < 7 || !http::equalIgnoringCase(given.substr(0, 7), "Bearer "))
        return false;
    given.remove_prefix(7);
    return equalKeys(given, m_options.apiKey);
}

int TextServer::dispatch(http::Exchange& exchange) {
    const http::Request& request = exchange.request();
    const std::string& path = request.path;
    const bool isGet = request.method == "GET" || request.method == "HEAD";
    // A page's own name can be made to mean this machine; it would then have the answers of a server without
    // a key.
    if (exchange.onLoopback() && m_options.apiKey.empty() &&
        !isOwnName(request.header("host"), m_options.http.host))
        return refuse(exchange,
                      {403,
                       "A server on this machine alone is asked as localhost or by its address, not as '" +
                           std::string(request.header("host")) +
                           "': give it a key (--api-key) to be asked "
                           "by another name.",
                       "", "wrong_host"});
    if (path.starts_with("/v1") && !isAllowed(request))
        return refuse(exchange, {401, "The API key is missing or wrong: send 'Authorization: Bearer KEY'.",
                                 "", "invalid_api_key"});
    if (path == "/v1/completions" || path == "/v1/chat/completions")
        return request.method == "POST" ? receive(exchange, path != "/v1/completions")
                                        : methodNotAllowed(exchange, "POST");
    const std::string modelPath = "/v1/models/" + m_backend.model().id;
    const bool isKnown = path == "/health" || path == "/metrics" || path == "/v1/models" || path == modelPath;
    if (!isKnown)
        return refuse(exchange, {404, "There is nothing at this address.", "", "not_found"});
    if (!isGet)
        return methodNotAllowed(exchange, "GET, HEAD");
    if (path == "/health")
        return health(exchange);
    if (path == "/metrics") {
        std::unique_lock lock(m_mutex);
        const std::int64_t inFlight = m_inFlight;
        lock.unlock();
        return answer(exchange, {200,
                                 "text/plain; version=0.0.4; charset=utf-8",
                                 m_metrics.text(inFlight, m_backend.stats()),
                                 {}});
    }
    const json model = modelObject(m_backend.model());
    const json body = path == modelPath ? model : json{{"object", "list"}, {"data", json::array({model})}};
    return answer(exchange, {200, "application/json", body.dump(), {}});
}

int TextServer::health(http::Exchange& exchange) {
    std::unique_lock lock(m_mutex);
    const char* state = m_draining ? "draining" : m_backend.ready() ? "ok" : "loading";
    lock.unlock();
    const int status = std::string_view(state) == "ok" ? 200 : 503;
    return answer(exchange, {status, "application/json", json{{"status", state}}.dump(), {}});
}

int TextServer::receive(http::Exchange& exchange, bool isChat) {
    if (auto wrong = checkContentType(exchange.request()))
        return refuse(exchange, *wrong);
    if (const auto failure = exchange.readBody())
        return failure->status == 0 ? kClientLeft : answer(exchange, refusal(*failure));
    return generate(exchange, isChat, Clock::now());
}

int TextServer::generate(http::Exchange& exchange, bool isChat, Clock::time_point arrival) {
    {
        const std::lock_guard lock(m_mutex);
        if (m_draining) {
            exchange.closeAfter();
            return refuse(exchange, {503, "The server is shutting down.", "", "shutting_down"});
        }
        ++m_inFlight;
    }
    struct Counted {
        TextServer& server;
        ~Counted() {
            const std::lock_guard lock(server.m_mutex);
            --server.m_inFlight;
            server.m_oneLess.notify_all();
        }
    } counted{*this};
    return generateCounted(exchange, isChat, arrival);
}

int TextServer::generateCounted(http::Exchange& exchange, bool isChat, Clock::time_point arrival) {
    if (!m_backend.ready())
        return refuse(exchange,
                      {503, "The model is being loaded again: try in a moment.", "", "model_unavailable"});
    const std::string& body = exchange.request().body;
    auto read = isChat ? readChat(body, m_backend) : readCompletion(body, m_backend);
    if (const auto* error = std::get_if<ApiError>(&read))
        return refuse(exchange, *error);
    auto& plan = std::get<TextPlan>(read);
    std::unique_ptr<AnswerShape> own;
    if (!isChat)
        own = completionShape(std::move(plan.prefixes));
    return answerText({exchange, m_backend, own ? *own : chatShape(), plan.wanted, std::move(plan.requests),
                       arrival, m_metrics});
}

} // namespace workbench
