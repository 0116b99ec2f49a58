#include "runtime/worker/request_queue.h"

#include "core/wire/frame.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

namespace workbench {
namespace {

constexpr int kRuntimeFailed = 5; ///< exit code

Json errorAnswer(const Json& id, const std::string& message) {
    return {{"id", id}, {"error", toJson(Error{ErrorCode::runtimeFailed, message, {}})}};
}

} // namespace

RequestQueue::RequestQueue(int fd, Channel& channel)
    : m_fd(fd), m_channel(channel), m_reader([this] { read(); }) {}

RequestQueue::~RequestQueue() {
    // The reader blocks in read(); the process ends with it.
    m_reader.detach();
}

std::shared_ptr<Request> RequestQueue::next() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_ended || !m_waiting.empty(); });
    if (m_waiting.empty())
        return nullptr;
    auto request = std::move(m_waiting.front());
    m_waiting.pop_front();
    std::erase_if(m_running, [](const auto& running) { return running.expired(); });
    m_running.push_back(request);
    return request;
}

void RequestQueue::read() {
    for (;;) {
        auto frame = readFrame(m_fd);
        if (!frame && frame.error().message == "end of stream")
            return end();
        if (!frame) {
            std::fprintf(stderr, "workbench-worker: %s\n", frame.error().message.c_str());
            ::_exit(kRuntimeFailed);
        }
        auto message = parseJson(frame->json);
        if (message)
            accept(*message, std::move(frame->payload));
        else
            m_channel.send(errorAnswer(nullptr, message.error().message));
    }
}

void RequestQueue::accept(const Json& message, std::vector<std::byte> payload) {
    if (!message.is_object())
        return m_channel.send(errorAnswer(nullptr, "A request must be a JSON object."));
    const Json id = message.value("id", Json());
    const auto method = required<std::string>(message, "method");
    const auto params = optional<Json>(message, "params", Json::object());
    if (const Error* error = firstError(method, params))
        return m_channel.send(errorAnswer(id, error->message));
    if (*method == "cancel")
        return tell(params->value("id", Json()), &Request::cancel);
    if (*method == "resume")
        return tell(params->value("id", Json()), &Request::resume);
    auto request = std::make_shared<Request>(id, *method, *params, m_channel, std::move(payload));
    const std::lock_guard lock(m_mutex);
    m_waiting.push_back(std::move(request));
    m_changed.notify_one();
}

/// A request that is done or unknown is left alone: its answer is on its way.
void RequestQueue::tell(const Json& id, void (Request::*what)()) {
    // Told without the lock: what the request's cancel calls may take locks of its own.
    std::vector<std::shared_ptr<Request>> candidates;
    {
        const std::lock_guard lock(m_mutex);
        candidates.assign(m_waiting.begin(), m_waiting.end());
        for (const auto& running : m_running)
            if (auto request = running.lock())
                candidates.push_back(std::move(request));
    }
    for (const auto& request : candidates)
        if (request->id() == id)
            ((*request).*what)();
}

void RequestQueue::end() {
    {
        const std::lock_guard lock(m_mutex);
        m_ended = true;
        m_changed.notify_one();
    }
    // The other side may have closed its writing end only, and still wait for answers. If it is gone, so are
    // we.
    pollfd out{m_channel.fd(), 0, 0};
    while (::poll(&out, 1, -1) < 0 || (out.revents & (POLLERR | POLLNVAL | POLLHUP)) == 0) {
    }
    ::_exit(0);
}

} // namespace workbench
