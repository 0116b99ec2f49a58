#include "runtime/ops/thread_pool.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace workbench::ops {
namespace {

constexpr int kMaxThreads = 256;
// Between two products of a decode step lie 20 to 100 us; a sleeping thread is awake again after 5 to 50.
constexpr std::chrono::microseconds kIdleSpin{150};
// The caller sleeps when a thread does not come back: most often that one waits for the caller's core.
constexpr std::chrono::microseconds kJoinSpin{50};

thread_local bool insideBody = false;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Waits for `done` at most `limit`; whether it came.
template <typename F>
bool spinUntil(std::chrono::microseconds limit, const F& done) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        for (int i = 0; i < 32; ++i) {
            if (done())
                return true;
            relax();
        }
        if (std::chrono::steady_clock::now() >= end)
            return false;
    }
}

/// One thread's share of a job. A line of the cache each: every piece that is taken writes to it.
struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
};

/// One job at a time. Never destroyed: its threads outlive main() and sleep. A child after fork() has none of
/// them, and its calls do all of their work themselves.
class Pool {
public:
    void run(int64_t count, int64_t grain, RangeBody body, int threads) {
        const std::unique_lock only(m_callers, std::try_to_lock);
        if (!only) {
            body(0, count);
            return;
        }
        start(threads);
        publish(count, grain, body, threads);
        work(0);
        join();
        if (m_error)
            std::rethrow_exception(std::exchange(m_error, nullptr));
    }

private:
    void start(int threads) {
        while (m_started < threads - 1) {
            std::thread([this, index = m_started + 1] { serve(index); }).detach();
            ++m_started;
        }
    }

    void publish(int64_t count, int64_t grain, RangeBody body, int threads) {
        for (int i = 0; i < threads; ++i) {
            m_shares[i].next.store(count * i / threads, std::memory_order_relaxed);
            m_shares[i].end = count * (i + 1) / threads;
        }
        m_body = body;
        m_grain = grain;
        m_threads = threads;
        m_open.store(true);
        m_job.fetch_add(1);
        m_job.notify_all();
    }

    void work(int self) {
        insideBody = true;
        try {
            for (int i = 0; i < m_threads; ++i)
                take(m_shares[(self + i) % m_threads]);
        } catch (...) {
            const std::scoped_lock lock(m_errors);
            if (!m_error)
                m_error = std::current_exception();
        }
        insideBody = false;
    }

    void take(Share& share) {
        while (share.next.load(std::memory_order_relaxed) < share.end) {
            const int64_t begin = share.next.fetch_add(m_grain, std::memory_order_relaxed);
            if (begin < share.end)
                m_body(begin, std::min(begin + m_grain, share.end));
        }
    }

    /// Shuts the job and waits for the threads that are in it. A thread enters by counting itself first and
    /// looking whether the job is open then: either it sees that the job is shut, or it is seen here.
    void join() {
        m_open.store(false);
        if (spinUntil(kJoinSpin, [&] { return m_inside.load() == 0; }))
            return;
        for (int inside = m_inside.load(); inside != 0; inside = m_inside.load())
            m_inside.wait(inside);
    }

    void serve(int self) {
        uint32_t seen = 0;
        for (;;) {
            if (!spinUntil(kIdleSpin, [&] { return m_job.load(std::memory_order_acquire) != seen; }))
                m_job.wait(seen);
            seen = m_job.load();
            m_inside.fetch_add(1);
            if (m_open.load() && self < m_threads)
                work(self);
            if (m_inside.fetch_sub(1) == 1)
                m_inside.notify_one();
        }
    }

    std::mutex m_callers;
    int m_started = 0;
    // A job; written while nobody is inside, read by those who found it open.
    Share m_shares[kMaxThreads];
    RangeBody m_body;
    int64_t m_grain = 1;
    int m_threads = 1;
    std::mutex m_errors;
    std::exception_ptr m_error;
    alignas(64) std::atomic<uint32_t> m_job{0};
    alignas(64) std::atomic<bool> m_open{false};
    alignas(64) std::atomic<int> m_inside{0};
};

} // namespace

void parallelFor(int64_t count, int64_t grain, RangeBody body) {
    if (count <= 0)
        return;
    const int64_t pieces = (count + grain - 1) / grain;
    const int threads =
        insideBody || at::in_parallel_region()
            ? 1
            : static_cast<int>(std::min<int64_t>({at::get_num_threads(), pieces, int64_t{kMaxThreads}}));
    if (threads <= 1) {
        body(0, count);
        return;
    }
    static Pool* const kPool = new Pool;
    kPool->run(count, grain, body, threads);
}

} // namespace workbench::ops
