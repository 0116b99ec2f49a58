#include "runtime/benchmark/round.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace workbench::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPace{100};

double secondsBetween(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

/// What the engine's callbacks write. Only they touch a request's times before it has finished.
class Progress {
public:
    explicit Progress(const Load& load) : m_requests(load.size()) {
        for (std::size_t i = 0; i < load.size(); ++i) {
            m_requests[i].arrival = load[i].arrivalSeconds;
            m_requests[i].promptTokens = static_cast<std::int64_t>(load[i].prompt.size());
            m_requests[i].tokens.reserve(static_cast<std::size_t>(load[i].newTokens));
        }
    }

    GenerationRequest request(const LoadRequest& of, std::size_t index) {
        GenerationRequest request{.prompt = of.prompt,
                                  .stop = {.maxTokens = of.newTokens, .ignoreEos = true}};
        request.onToken = [this, index](const GeneratedToken&) {
            m_requests[index].tokens.push_back(secondsBetween(m_start, Clock::now()));
            m_tokens.fetch_add(1, std::memory_order_relaxed);
        };
        request.onFinish = [this](const Completion& end) {
            const std::lock_guard lock(m_mutex);
            if (end.error && !m_error)
                m_error = end.error;
            ++m_finished;
            m_changed.notify_all();
        };
        return request;
    }
    void begin() { m_start = Clock::now(); }
    Clock::time_point start() const { return m_start; }
    void fail(const Error& error) {
        const std::lock_guard lock(m_mutex);
        if (!m_error)
            m_error = error;
        m_changed.notify_all();
    }
    /// Whether all have ended, or one failed, by `until`.
    bool wait(Clock::time_point until) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_until(lock, until,
                                    [this] { return m_error || m_finished == m_requests.size(); });
    }
    std::int64_t tokens() const { return m_tokens.load(std::memory_order_relaxed); }
    std::optional<Error> error() {
        const std::lock_guard lock(m_mutex);
        return m_error;
    }
    std::vector<RequestTimes> take() { return std::move(m_requests); }

private:
    std::vector<RequestTimes> m_requests;
    Clock::time_point m_start = Clock::now();
    std::atomic<std::int64_t> m_tokens = 0;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::size_t m_finished = 0;
    std::optional<Error> m_error;
};

/// Submits what arrives at once from the engine's own thread, between two steps.
Status submitTogether(Engine& engine, const Load& load, Progress& progress, std::vector<RequestId>& ids) {
    std::size_t count = 0;
    while (count < load.size() && load[count].arrivalSeconds <= 0)
        ++count;
    std::mutex mutex;
    std::condition_variable changed;
    bool submitted = false;
    GenerationRequest starter{.prompt = {0}, .stop = {.maxTokens = 0}};
    starter.onFinish = [&](const Completion&) {
        progress.begin();
        for (std::size_t i = 0; i < count; ++i) {
            auto id = engine.submit(progress.request(load[i], i));
            id ? ids.push_back(*id) : progress.fail(id.error());
        }
        const std::lock_guard lock(mutex);
        submitted = true;
        changed.notify_one();
    };
    if (auto started = engine.submit(std::move(starter)); !started)
        return started.error();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return submitted; });
    return Ok{};
}

class Round {
public:
    Round(Engine& engine, const Load& load, const std::atomic<bool>& cancel, const Pace& pace)
        : m_engine(engine), m_load(load), m_cancel(cancel), m_pace(pace), m_progress(load) {}

    Result<RoundSample> run() {
        const EngineStats before = m_engine.stats();
        if (auto started = submitTogether(m_engine, m_load, m_progress, m_ids); !started)
            return started.error();
        for (std::size_t i = m_ids.size(); i < m_load.size() && !m_cancel && !m_progress.error(); ++i)
            submitAt(i);
        wait(Clock::time_point::max());
        const auto error = m_progress.error();
        if (m_cancel || error)
            for (const RequestId id : m_ids)
                m_engine.cancel(id);
        m_engine.waitIdle();
        if (m_cancel)
            return Error{ErrorCode::cancelled, "The run was cancelled.", {}};
        if (error)
            return *error;
        const EngineStats after = m_engine.stats();
        return RoundSample{m_progress.take(), after.steps - before.steps,
                           after.stepSeconds - before.stepSeconds, after.modelSeconds - before.modelSeconds};
    }

private:
    void submitAt(std::size_t index) {
        const auto offset = std::chrono::duration<double>(m_load[index].arrivalSeconds);
        wait(m_progress.start() + std::chrono::duration_cast<Clock::duration>(offset));
        auto id = m_engine.submit(m_progress.request(m_load[index], index));
        id ? m_ids.push_back(*id) : m_progress.fail(id.error());
    }
    /// Until then, or until all have ended, one failed, or the round was cancelled.
    void wait(Clock::time_point until) {
        while (!m_cancel && Clock::now() < until && !m_progress.wait(std::min(until, Clock::now() + kPace)))
            if (m_pace)
                m_pace(m_progress.tokens(), secondsBetween(m_progress.start(), Clock::now()));
    }

    Engine& m_engine;
    const Load& m_load;
    const std::atomic<bool>& m_cancel;
    const Pace& m_pace;
    Progress m_progress;
    std::vector<RequestId> m_ids;
};

} // namespace

Result<RoundSample> runRound(Engine& engine, const Load& load, const std::atomic<bool>& cancel,
                             const Pace& pace) {
    return Round(engine, load, cancel, pace).run();
}

Status runInterleaved(const std::vector<Contender>& contenders, const std::vector<Load>& loads,
                      std::int64_t rounds, const std::atomic<bool>& cancel, const Observer& observer) {
    for (std::int64_t round = -1; round < rounds; ++round) {
        const auto turn = static_cast<std::size_t>(round + 1);
        const Load& load = loads[(turn + loads.size() - 1) % loads.size()];
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const std::size_t who = (i + turn + contenders.size() - 1) % contenders.size();
            const Pace pace = [&](std::int64_t tokens, double seconds) {
                if (observer.onPace)
                    observer.onPace(who, round, tokens, seconds);
            };
            auto sample = runRound(*contenders[who].engine, load, cancel, pace);
            if (!sample)
                return sample.error();
            if (round >= 0 && observer.onSample)
                observer.onSample(who, round, *sample);
        }
        if (observer.onRound)
            observer.onRound(round + 1);
    }
    return Ok{};
}

} // namespace workbench::benchmark
