#pragma once

#include "runtime/engine/active_request.h"
#include "runtime/engine/engine_stats.h"
#include "runtime/engine/model_runner.h"
#include "runtime/engine/scheduler.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace workbench {

struct EngineOptions {
    SchedulerLimits limits;
    BlockLayout blocks;
    std::int64_t queuedRequests = 1024; ///< that wait for their first step, at most
    std::uint64_t seed = 0;             ///< for requests without one; 0: from the system's random device
};

/// Runs requests side by side on one model, on a thread of its own. All functions may be called from any
/// thread; waitIdle() and the destructor not from a callback.
class Engine {
public:
    static Result<std::unique_ptr<Engine>> create(EngineOptions options, std::unique_ptr<ModelRunner> model);
    /// Cancels what still runs and waits for its callbacks.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Takes a request, or refuses it in one sentence: ErrorCode::badInput where it can never run,
    /// ErrorCode::runtimeFailed where it can later, because the queue is full, or the engine was closed.
    Result<RequestId> submit(GenerationRequest request);
    /// The request ends with FinishReason::cancelled, unless it has ended before. A step that works for
    /// cancelled requests alone is broken off.
    void cancel(RequestId id);
    /// Refuses requests from now on; those taken go on.
    void close();
    /// Until all requests have ended and their callbacks are done.
    void waitIdle();
    EngineStats stats() const;
    /// The longest text, prompt included, that can be taken.
    std::int64_t capacityTokens() const;

private:
    Engine(EngineOptions options, Scheduler scheduler, std::unique_ptr<ModelRunner> model);

    struct Arrival {
        RequestId id = 0;
        GenerationRequest request;
        ActiveRequest::Clock::time_point time;
    };
    struct Orders {
        std::vector<Arrival> arrivals;
        std::set<RequestId> cancels;
        bool stop = false;
    };

    void loop();
    Orders takeOrders();
    void start(Arrival arrival);
    void step();
    void deliver(const StepPlan& plan, std::span<const float> logits);
    void end(RequestId id, FinishReason reason, std::optional<Error> error = {});
    void forget(RequestId id);
    void settle();
    Status check(const GenerationRequest& request) const;
    Result<std::span<const float>> run(const StepPlan& plan);
    void countStep(std::int64_t newTokens, double seconds, double modelSeconds);

    const EngineOptions m_options;
    const std::unique_ptr<ModelRunner> m_model;

    // The engine's thread alone.
    Scheduler m_scheduler;
    std::map<RequestId, ActiveRequest> m_active;
    std::uint64_t m_seed;
    std::int64_t m_endedNow = 0; ///< requests whose end nobody has been told of

    mutable std::mutex m_mutex;
    std::condition_variable m_ordered; ///< something for the engine's thread
    std::condition_variable m_ended;   ///< m_unfinished went down
    Orders m_orders;
    std::set<RequestId> m_stepWanted; ///< requests of the current step that nobody has cancelled
    bool m_inStep = false;
    std::atomic<bool> m_abort = false; ///< set with m_mutex held
    bool m_closed = false;
    std::int64_t m_unfinished = 0;
    RequestId m_lastId = 0;
    EngineStats m_stats;

    std::thread m_thread; ///< last: starts when all else is ready
};

} // namespace workbench
