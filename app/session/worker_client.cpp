#include "app/session/worker_client.h"

#include "app/session/json_fields.h"
#include "core/support/error_code_names.h"
#include "core/wire/frame.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace workbench {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kCancelGrace = 2s;

ErrorCode codeFromName(std::string_view text) {
    for (const auto& [code, name] : kErrorCodeNames)
        if (name == text)
            return code;
    return ErrorCode::runtimeFailed; // of a worker that knows more kinds
}

Error protocolError(const std::string& what) {
    return {ErrorCode::runtimeFailed, "the worker does not keep to the protocol: " + what, {}};
}

/// Polls until `fd` is readable (true), the token is set or the time is over (false).
bool readable(int fd, const CancelToken* cancel, std::chrono::milliseconds limit) {
    std::array<pollfd, 2> entries{pollfd{fd, POLLIN, 0}, pollfd{cancel ? cancel->fd() : -1, POLLIN, 0}};
    int ready = 0;
    do
        ready = ::poll(entries.data(), entries.size(), static_cast<int>(limit.count()));
    while (ready < 0 && errno == EINTR && !(cancel && cancel->cancelled()));
    return ready > 0 && entries[0].revents != 0;
}

/// OpenMP's threads must sleep between parallel regions, see runtime/worker/main.cpp. Said here, the worker
/// need not start itself again. Who sets the policy himself keeps it.
std::map<std::string, std::string> workerEnvironment() {
    if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"))
        return {};
    return {{"OMP_WAIT_POLICY", "PASSIVE"}};
}

} // namespace

Error workerError(const json& error) {
    const std::string message = textOf(error, "message");
    return {codeFromName(textOf(error, "code")),
            message.empty() ? "the worker failed without a reason" : message, textOf(error, "where")};
}

Result<WorkerClient> WorkerClient::start(std::vector<std::string> command, const Job& job,
                                         std::chrono::milliseconds patience) {
    auto process = Subprocess::start({std::move(command), workerEnvironment(), {}});
    if (!process)
        return Error{ErrorCode::runtimeFailed, "the worker: " + process.error().message,
                     process.error().where};
    WorkerClient client(std::move(process).value());
    client.m_patience = patience;
    auto hello = client.call("hello", json::object(), job);
    if (!hello)
        return hello.error();
    client.m_hello = std::move(hello->result);
    if (const std::string version = textOf(client.m_hello, "version"); version != WORKBENCH_VERSION)
        return Error{ErrorCode::runtimeFailed,
                     "the worker is of workbench " + (version.empty() ? "another version" : version) +
                         ", this is " WORKBENCH_VERSION ": install the same version where it runs",
                     {}};
    client.m_patience.reset();
    return client;
}

Result<WorkerClient::Answer> WorkerClient::call(const std::string& method, json params, const Job& job,
                                                const EventHandler& onEvent, std::vector<std::byte> payload) {
    if (!m_alive)
        return Error{ErrorCode::runtimeFailed, "the worker has ended", {}};
    if (job.cancelled())
        return cancelledError();
    const std::int64_t id = m_nextId++;
    const json request = {{"id", id}, {"method", method}, {"params", std::move(params)}};
    const Frame frame{request.dump(-1, ' ', false, json::error_handler_t::replace), std::move(payload)};
    if (auto sent = writeFrame(m_process.input(), frame); !sent)
        return died(sent.error());
    return receive(id, job, onEvent);
}

Status WorkerClient::notify(const std::string& method, json params) {
    const json message = {{"method", method}, {"params", std::move(params)}};
    if (auto sent = writeFrame(m_process.input(), {message.dump(), {}}); !sent)
        return died(sent.error());
    return Ok{};
}

/// Until the next frame of the request begins. Cancelled: asks the worker to stop and gives it a moment, then
/// kills it.
Status WorkerClient::awaitFrame(std::int64_t id, const Job& job) {
    while (!readable(m_process.output(), job.cancel, m_patience.value_or(1h))) {
        if (!job.cancelled() && !m_patience)
            continue;
        if (!job.cancelled())
            return died({ErrorCode::runtimeFailed,
                         "the worker did not answer within " + std::to_string(m_patience->count() / 1000) +
                             " s: is that command a workbench-worker?",
                         {}});
        const json cancel = {{"method", "cancel"}, {"params", {{"id", id}}}};
        const bool asked = writeFrame(m_process.input(), {cancel.dump(), {}}).ok();
        if (!asked || !readable(m_process.output(), nullptr, kCancelGrace)) {
            m_process.kill();
            m_process.wait(10s);
            m_alive = false;
            return cancelledError();
        }
        return Ok{};
    }
    return Ok{};
}

Result<WorkerClient::Answer> WorkerClient::receive(std::int64_t id, const Job& job,
                                                   const EventHandler& onEvent) {
    for (;;) {
        if (auto waited = awaitFrame(id, job); !waited)
            return waited.error();
        auto frame = readFrame(m_process.output());
        if (!frame)
            return job.cancelled() ? cancelledError() : died(frame.error());
        json message = json::parse(frame->json, nullptr, false);
        if (!message.is_object())
            return died(protocolError("a frame holds no JSON object"));
        if (message.contains("id") && message["id"] != id)
            continue; // of an earlier request that was cancelled
        if (const auto error = message.find("error"); error != message.end())
            return job.cancelled() ? cancelledError() : workerError(*error);
        if (const auto result = message.find("result"); result != message.end())
            return Answer{std::move(*result), std::move(frame->payload)};
        if (!message.contains("event"))
            return died(protocolError("a frame is no answer: is that command a workbench-worker?"));
        if (onEvent)
            onEvent(message);
    }
}

/// What the client saw (a closed pipe) is only the symptom: how the process ended and its last words are the
/// cause.
Error WorkerClient::died(const Error& failure) {
    m_alive = false;
    m_process.closeInput();
    auto exit = m_process.wait(2s);
    const bool ended = exit.has_value();
    if (!ended) {
        m_process.kill();
        m_process.wait(10s);
    }
    std::string message = ended ? "the worker " + exit->text() : failure.message;
    if (ended && exit->signal == SIGKILL)
        message +=
            ", as the system does when memory runs out: close other programs, or use a smaller dtype or "
            "a worker on a larger machine";
    if (const std::string witness = lastLine(m_process.errorTail()); !witness.empty())
        message += ": " + witness;
    else if (ended && exit->success())
        message += " before it answered (" + failure.message + ")";
    return {ErrorCode::runtimeFailed, message, {}};
}

} // namespace workbench
