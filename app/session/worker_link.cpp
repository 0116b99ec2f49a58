#include "app/session/worker_link.h"

#include "core/wire/frame.h"

namespace workbench {
namespace {

using nlohmann::json;

/// Across links: a request's number never names another one, also after a restart.
std::atomic<std::int64_t> g_nextId = 1'000'000;

} // namespace

WorkerLink::WorkerLink(WorkerClient worker, std::function<void(const Error&)> onDeath)
    : m_worker(std::move(worker)), m_onDeath(std::move(onDeath)), m_reader([this] { read(); }) {}

WorkerLink::~WorkerLink() {
    {
        const std::lock_guard lock(m_writing);
        m_worker.kill();
    }
    m_reader.join();
}

bool WorkerLink::write(const json& message) {
    const std::lock_guard lock(m_writing);
    return m_worker.input() >= 0 &&
           writeFrame(m_worker.input(), {message.dump(-1, ' ', false, json::error_handler_t::replace), {}})
               .ok();
}

std::int64_t WorkerLink::send(const std::string& method, json params, OnEvent onEvent, OnAnswer onAnswer) {
    const std::int64_t id = g_nextId++;
    std::optional<Error> dead;
    {
        const std::lock_guard lock(m_mutex);
        dead = m_dead;
        if (!dead)
            m_open[id] = {std::move(onEvent), std::move(onAnswer)};
    }
    if (dead)
        onAnswer(*dead);
    else // a failed write means a dead worker, which the reader finds too and then answers
        (void)write({{"id", id}, {"method", method}, {"params", std::move(params)}});
    return id;
}

void WorkerLink::cancel(std::int64_t id) {
    (void)write({{"method", "cancel"}, {"params", {{"id", id}}}});
}

void WorkerLink::read() {
    for (;;) {
        auto frame = readFrame(m_worker.output());
        if (!frame)
            return end(frame.error());
        const json message = json::parse(frame->json, nullptr, false);
        if (!message.is_object())
            return end({ErrorCode::runtimeFailed, "the worker does not keep to the protocol", {}});
        take(message);
    }
}

void WorkerLink::take(const json& message) {
    const auto id = message.value("id", json());
    Open open;
    const bool isEvent = message.contains("event");
    {
        const std::lock_guard lock(m_mutex);
        const auto place = id.is_number_integer() ? m_open.find(id.get<std::int64_t>()) : m_open.end();
        if (place == m_open.end())
            return;
        if (isEvent)
            open.onEvent = place->second.onEvent;
        else
            open = std::move(m_open.extract(place).mapped());
    }
    if (isEvent) {
        if (open.onEvent)
            open.onEvent(message);
    } else if (const auto error = message.find("error"); error != message.end()) {
        open.onAnswer(workerError(*error));
    } else {
        open.onAnswer(message.value("result", json::object()));
    }
}

void WorkerLink::end(const Error& failure) {
    Error error;
    {
        const std::lock_guard lock(m_writing);
        error = m_worker.died(failure);
    }
    std::map<std::int64_t, Open> open;
    {
        const std::lock_guard lock(m_mutex);
        m_dead = error;
        open = std::exchange(m_open, {});
    }
    m_onDeath(error); // first: whoever gets an answer may ask at once whether the worker lives
    for (auto& [id, each] : open)
        each.onAnswer(error);
}

} // namespace workbench
