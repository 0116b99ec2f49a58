#include "runtime/engine/engine.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

namespace workbench {
namespace {

using Clock = ActiveRequest::Clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint64_t randomSeed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

Error refused(ErrorCode code, std::string message) {
    return Error{code, std::move(message), {}};
}

} // namespace

Result<std::unique_ptr<Engine>> Engine::create(EngineOptions options, std::unique_ptr<ModelRunner> model) {
    auto scheduler = Scheduler::create(options.limits, options.blocks);
    if (!scheduler)
        return scheduler.error();
    return std::unique_ptr<Engine>(new Engine(std::move(options), std::move(*scheduler), std::move(model)));
}

Engine::Engine(EngineOptions options, Scheduler scheduler, std::unique_ptr<ModelRunner> model)
    : m_options(std::move(options)), m_model(std::move(model)), m_scheduler(std::move(scheduler)),
      m_seed(m_options.seed != 0 ? m_options.seed : randomSeed()) {
    m_stats.scheduler = m_scheduler.counts();
    m_thread = std::thread([this] { loop(); });
}

Engine::~Engine() {
    {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_orders.stop = true;
        m_abort = true;
        m_ordered.notify_one();
    }
    m_thread.join();
}

Status Engine::check(const GenerationRequest& request) const {
    if (auto fine = workbench::check(request.sampling); !fine)
        return fine;
    if (request.stop.maxTokens < 0)
        return refused(ErrorCode::badInput, "The number of new tokens must be 0 or more, not " +
                                                std::to_string(request.stop.maxTokens) + ".");
    if (!request.stop.stopStrings.empty() && !request.text)
        return refused(ErrorCode::badInput,
                       "Stop strings need the model's tokenizer, and the request brings none.");
    for (const std::int64_t token : request.prompt)
        if (token < 0 || token >= m_model->vocabulary())
            return refused(ErrorCode::badInput, "Token " + std::to_string(token) +
                                                    " is not in the model's vocabulary of " +
                                                    std::to_string(m_model->vocabulary()) + ".");
    return m_scheduler.refusal(std::ssize(request.prompt), request.stop.maxTokens);
}

Result<RequestId> Engine::submit(GenerationRequest request) {
    auto fine = check(request);
    const std::lock_guard lock(m_mutex);
    if (fine && m_closed)
        fine = refused(ErrorCode::runtimeFailed, "The engine is shutting down and takes no more requests.");
    const std::int64_t waiting = std::ssize(m_orders.arrivals) + m_stats.scheduler.waiting;
    if (fine && waiting >= m_options.queuedRequests)
        fine =
            Error{ErrorCode::runtimeFailed,
                  "The queue is full, " + std::to_string(waiting) + " requests are waiting: try again later.",
                  kQueueIsFull};
    if (!fine) {
        ++m_stats.refused;
        return fine.error();
    }
    ++m_unfinished;
    m_orders.arrivals.push_back({++m_lastId, std::move(request), Clock::now()});
    m_ordered.notify_one();
    return m_lastId;
}

void Engine::cancel(RequestId id) {
    const std::lock_guard lock(m_mutex);
    m_orders.cancels.insert(id);
    m_stepWanted.erase(id);
    if (m_inStep && m_stepWanted.empty())
        m_abort = true;
    m_ordered.notify_one();
}

void Engine::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
}

void Engine::waitIdle() {
    std::unique_lock lock(m_mutex);
    m_ended.wait(lock, [this] { return m_unfinished == 0; });
}

EngineStats Engine::stats() const {
    const std::lock_guard lock(m_mutex);
    return m_stats;
}

std::int64_t Engine::capacityTokens() const {
    return std::min(m_scheduler.blocks().capacityTokens(m_options.limits.stepTokens),
                    m_options.limits.contextTokens);
}

Engine::Orders Engine::takeOrders() {
    std::unique_lock lock(m_mutex);
    m_stats.scheduler = m_scheduler.counts();
    m_ordered.wait(lock, [this] {
        return m_orders.stop || m_scheduler.hasWork() || !m_orders.arrivals.empty() ||
               !m_orders.cancels.empty();
    });
    Orders taken = std::exchange(m_orders, {});
    // Until it is scheduled, an arrival counts as waiting.
    m_stats.scheduler.waiting += std::ssize(taken.arrivals);
    return taken;
}

void Engine::loop() {
    for (;;) {
        Orders orders = takeOrders();
        for (Arrival& arrival : orders.arrivals)
            start(std::move(arrival));
        for (const RequestId id : orders.cancels)
            end(id, FinishReason::cancelled);
        if (orders.stop)
            break;
        if (m_scheduler.hasWork())
            step();
        settle();
    }
    while (!m_active.empty())
        end(m_active.begin()->first, FinishReason::cancelled);
    settle();
}

void Engine::start(Arrival arrival) {
    // Seeds differ from request to request also where the engine's own is fixed.
    const auto [place, isNew] = m_active.try_emplace(arrival.id, std::move(arrival.request),
                                                     m_seed + arrival.id * 0x9E3779B97F4A7C15U, arrival.time);
    if (place->second.stop().maxTokens == 0) {
        place->second.begin(0);
        end(arrival.id, FinishReason::length);
    } else {
        m_scheduler.add(arrival.id, place->second.prompt());
    }
}

/// Ends a request that the engine knows; others have ended already.
void Engine::end(RequestId id, FinishReason reason, std::optional<Error> error) {
    const auto place = m_active.find(id);
    if (place == m_active.end())
        return;
    m_scheduler.remove(id);
    place->second.finish(reason, std::move(error));
    forget(id);
}

void Engine::forget(RequestId id) {
    const FinishReason reason = m_active.at(id).reason();
    m_active.erase(id);
    const std::lock_guard lock(m_mutex);
    m_stats.scheduler = m_scheduler.counts();
    ++(reason == FinishReason::failed      ? m_stats.failed
       : reason == FinishReason::cancelled ? m_stats.cancelled
                                           : m_stats.finished);
    ++m_endedNow;
}

/// Wakes those who wait for the end, when the counts include all that ended.
void Engine::settle() {
    const std::lock_guard lock(m_mutex);
    m_unfinished -= std::exchange(m_endedNow, 0);
    m_ended.notify_all();
}

Result<std::span<const float>> Engine::run(const StepPlan& plan) {
    {
        const std::lock_guard lock(m_mutex);
        for (const StepSequence& sequence : plan.sequences)
            if (!m_orders.cancels.contains(sequence.id))
                m_stepWanted.insert(sequence.id);
        m_inStep = true;
        m_stats.scheduler = m_scheduler.counts();
        m_abort = m_orders.stop || m_stepWanted.empty();
    }
    auto logits = m_model->run(plan, m_abort);
    const std::lock_guard lock(m_mutex);
    m_inStep = false;
    m_stepWanted.clear();
    return logits;
}

void Engine::step() {
    const auto begin = Clock::now();
    const StepPlan plan = m_scheduler.plan();
    for (const StepSequence& sequence : plan.sequences)
        m_active.at(sequence.id).begin(m_scheduler.reusedTokens(sequence.id));
    const auto modelBegin = Clock::now();
    const auto logits = run(plan);
    const double modelSeconds = secondsSince(modelBegin);
    if (logits) {
        m_scheduler.commit(plan);
        deliver(plan, *logits);
    } else if (logits.error().code != ErrorCode::cancelled || !m_abort) {
        for (const StepSequence& sequence : plan.sequences)
            end(sequence.id, FinishReason::failed, logits.error());
    }
    countStep(logits ? std::ssize(plan.rows) : 0, secondsSince(begin), modelSeconds);
}

void Engine::deliver(const StepPlan& plan, std::span<const float> logits) {
    const auto vocabulary = static_cast<std::size_t>(m_model->vocabulary());
    for (const StepSequence& sequence : plan.sequences) {
        if (sequence.row < 0)
            continue;
        const auto row = logits.subspan(static_cast<std::size_t>(sequence.row) * vocabulary, vocabulary);
        const auto token = m_active.at(sequence.id).advance(row);
        if (token) {
            m_scheduler.append(sequence.id, *token);
        } else {
            m_scheduler.remove(sequence.id);
            forget(sequence.id);
        }
    }
}

void Engine::countStep(std::int64_t newTokens, double seconds, double modelSeconds) {
    const std::lock_guard lock(m_mutex);
    ++m_stats.steps;
    m_stats.newTokens += newTokens;
    m_stats.stepSeconds += seconds;
    m_stats.modelSeconds += modelSeconds;
}

} // namespace workbench
