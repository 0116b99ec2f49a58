#pragma once

#include "app/session/job.h"
#include "core/support/subprocess.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace workbench {

/// The other end of the worker protocol (core/wire/frame.h). A dead worker is an Error that says how it died;
/// the next start makes a new one. One request at a time; one thread at a time.
class WorkerClient {
public:
    struct Answer {
        nlohmann::json result;
        std::vector<std::byte> payload;
    };
    /// LibTorch from a cold disk takes up to 20 s, a password that ssh asks for a while longer.
    static constexpr std::chrono::seconds kHelloLimit{120};
    using EventHandler = std::function<void(const nlohmann::json&)>;

    /// Starts the worker and waits for its hello. `command`: its words, perhaps of an ssh that reaches
    /// another machine. One that does not say hello within `patience` is killed: an Error.
    static Result<WorkerClient> start(std::vector<std::string> command, const Job& job,
                                      std::chrono::milliseconds patience = kHelloLimit);

    /// Sends a request and waits for its answer; events of the request go to `onEvent`. Cancelled by the job:
    /// the worker is asked to stop, and killed when it does not within two seconds.
    Result<Answer> call(const std::string& method, nlohmann::json params, const Job& job,
                        const EventHandler& onEvent = {}, std::vector<std::byte> payload = {});

    /// Sends what has no answer of its own ("resume").
    Status notify(const std::string& method, nlohmann::json params);

    bool alive() const { return m_alive; }
    const nlohmann::json& hello() const { return m_hello; } ///< {"version","torch","threads","isa","devices"}
    pid_t pid() const { return m_process.pid(); }

    // For who speaks the protocol over it himself, with several requests at a time (WorkerLink).
    int input() const { return m_process.input(); }
    int output() const { return m_process.output(); }
    void kill() { m_process.kill(); }
    /// Reaps a worker whose pipe failed, and says how it ended. The input is closed from then on.
    Error died(const Error& failure);

private:
    explicit WorkerClient(Subprocess process) : m_process(std::move(process)) {}
    Result<Answer> receive(std::int64_t id, const Job& job, const EventHandler& onEvent);
    Status awaitFrame(std::int64_t id, const Job& job);

    Subprocess m_process;
    nlohmann::json m_hello;
    std::int64_t m_nextId = 1;
    bool m_alive = true;
    std::optional<std::chrono::milliseconds> m_patience; ///< with the next answer; none: for ever
};

/// The Error that an answer's {"code", "message", "where"} tells.
Error workerError(const nlohmann::json& error);

} // namespace workbench
