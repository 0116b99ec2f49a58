#pragma once

#include "app/session/worker_client.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace workbench {

/// A worker that serves many requests at once. All functions from any thread; callbacks come from the link's
/// own, and must not wait.
class WorkerLink {
public:
    using OnEvent = std::function<void(const nlohmann::json&)>;
    using OnAnswer = std::function<void(Result<nlohmann::json>)>; ///< once

    /// `onDeath`: once, before every request that is open is answered with an Error.
    WorkerLink(WorkerClient worker, std::function<void(const Error&)> onDeath);
    /// Kills the worker; what is open is answered with an Error.
    ~WorkerLink();
    WorkerLink(const WorkerLink&) = delete;
    WorkerLink& operator=(const WorkerLink&) = delete;

    std::int64_t send(const std::string& method, nlohmann::json params, OnEvent onEvent, OnAnswer onAnswer);
    void cancel(std::int64_t id);
    pid_t pid() const { return m_worker.pid(); }

private:
    struct Open {
        OnEvent onEvent;
        OnAnswer onAnswer;
    };

    void read();
    void take(const nlohmann::json& message);
    void end(const Error& failure);
    bool write(const nlohmann::json& message);

    WorkerClient m_worker;
    std::function<void(const Error&)> m_onDeath;
    std::mutex m_writing; ///< frames do not mix; the input is not closed under a writer
    std::mutex m_mutex;
    std::map<std::int64_t, Open> m_open;
    std::optional<Error> m_dead;
    std::thread m_reader; ///< last: uses all else
};

} // namespace workbench
