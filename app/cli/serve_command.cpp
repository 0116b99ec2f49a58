#include "app/cli/commands.h"
#include "app/cli/log.h"
#include "app/session/generate.h"
#include "app/session/worker_backend.h"
#include "runtime/server/text_server.h"

#include <poll.h>
#include <sys/resource.h>

#include <csignal>

namespace workbench::cli {
namespace {

using namespace std::chrono_literals;

/// org/name as it was given, a directory by its own name.
std::string nameOf(const Options& options) {
    if (!options.serve.modelName.empty())
        return options.serve.modelName;
    std::error_code error;
    const std::filesystem::path path = options.model;
    if (!std::filesystem::exists(path, error))
        return options.model;
    return std::filesystem::weakly_canonical(path, error).filename().string();
}

void logServed(const ServedRequest& request) {
    logDetail(request.method + " " + request.path.substr(0, 200) + " " + std::to_string(request.status) +
              " in " + std::to_string(static_cast<std::int64_t>(request.seconds * 1000)) + " ms");
}

WorkerBackendOptions backendOptions(const Options& options) {
    const ServeOptions& serve = options.serve;
    return {options.worker,
            options.workerModel,
            nameOf(options),
            {serve.maxBatchTokens, serve.kvCacheBytes, serve.maxQueue},
            [](const std::string& notice) { logWarning(notice); },
            options.weights,
            options.device};
}

Result<std::unique_ptr<TextServer>> listen(const ServeOptions& options, TextBackend& backend) {
    http::Server::Options http;
    http.host = options.host;
    http.port = static_cast<int>(options.port);
    auto server = TextServer::start({std::move(http), options.apiKey, logServed}, backend);
    if (server && !(*server)->onLoopback() && options.apiKey.empty())
        logWarning("other machines can use the server without a key: give one with --api-key");
    return server;
}

/// Each client takes two descriptors; the usual limit of 1024 is for programs that use select().
void allowManyDescriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Waits for a signal to stop, then for what runs. A second signal ends the process at once (process.cpp).
void serveUntilStopped(TextServer& server, const CancelToken& cancel) {
    pollfd entry{cancel.fd(), POLLIN, 0};
    while (!cancel.cancelled())
        ::poll(&entry, 1, -1);
    server.drain();
    logProgress("drain", "new requests are refused, those that run come to their end");
    while (!server.waitDrained(1s)) {
    }
}

} // namespace

Status runServe(const Options& options, Context& context) {
    // A closed log or client is no reason to stop: writes fail instead.
    std::signal(SIGPIPE, SIG_IGN);
    allowManyDescriptors();
    auto opened = openSession(options, context);
    if (!opened)
        return opened.error();
    auto backend = openTextBackend(**opened, backendOptions(options), context.job);
    if (!backend)
        return backend.error();
    auto server = listen(options.serve, **backend);
    if (!server)
        return server.error();
    const std::string host = options.serve.host.find(':') == std::string::npos
                                 ? options.serve.host
                                 : "[" + options.serve.host + "]";
    context.out << "serving " << (*backend)->model().id << " on http://" << host << ":" << (*server)->port()
                << "/v1" << std::endl;
    serveUntilStopped(**server, *context.job.cancel);
    return Ok{};
}

} // namespace workbench::cli
