#include "runtime/ops/thread_pool.h"

#include <ATen/Parallel.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace workbench::ops {
namespace {

/// Sets LibTorch's threads for one test: the pool follows them, whatever the machine has.
class WithThreads {
public:
    explicit WithThreads(int threads) : m_before(at::get_num_threads()) { at::set_num_threads(threads); }
    ~WithThreads() { at::set_num_threads(m_before); }
    WithThreads(const WithThreads&) = delete;
    WithThreads& operator=(const WithThreads&) = delete;

private:
    int m_before;
};

std::vector<int> timesVisited(int64_t count, int64_t grain) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
    parallelFor(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            ++visits[static_cast<size_t>(i)];
    });
    return {visits.begin(), visits.end()};
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
    for (const int threads : {1, 2, 5}) {
        const WithThreads set(threads);
        for (const int64_t count : {0, 1, 2, 7, 64, 1001})
            for (const int64_t grain : {1, 3, 64, 5000})
                EXPECT_EQ(timesVisited(count, grain), std::vector<int>(static_cast<size_t>(count), 1))
                    << count << " by " << grain << " on " << threads;
    }
}

TEST(ParallelFor, VisitsEveryIndexOnceInManyShortCalls) {
    const WithThreads set(4);
    for (int call = 0; call < 3000; ++call)
        ASSERT_EQ(timesVisited(40, 1), std::vector<int>(40, 1)) << "call " << call;
}

TEST(ParallelFor, UsesSeveralThreads) {
    const WithThreads set(3);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    // A piece lasts until a second thread has come; one thread alone would wait for ever, were it not for the
    // end.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    parallelFor(8, 1, [&](int64_t, int64_t) {
        for (;;) {
            const std::scoped_lock lock(mutex);
            seen.insert(std::this_thread::get_id());
            if (seen.size() > 1 || std::chrono::steady_clock::now() > end)
                return;
        }
    });
    EXPECT_GT(seen.size(), 1u);
}

TEST(ParallelFor, RunsOnTheCallerInsideOfABody) {
    const WithThreads set(4);
    std::atomic<int64_t> sum{0};
    parallelFor(4, 1, [&](int64_t, int64_t) {
        const auto outer = std::this_thread::get_id();
        parallelFor(100, 1, [&](int64_t begin, int64_t end) {
            EXPECT_EQ(std::this_thread::get_id(), outer);
            sum += end - begin;
        });
    });
    EXPECT_EQ(sum, 400);
}

TEST(ParallelFor, ServesCallersOnSeveralThreads) {
    const WithThreads set(2);
    std::atomic<int64_t> sum{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            at::set_num_threads(2);
            for (int call = 0; call < 500; ++call)
                parallelFor(20, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(sum, 4 * 500 * 20);
}

TEST(ParallelFor, ThrowsWhatABodyThrewAndWorksOn) {
    const WithThreads set(3);
    EXPECT_THROW(parallelFor(100, 1,
                             [](int64_t begin, int64_t) {
                                 if (begin == 50)
                                     throw std::runtime_error("piece 50");
                             }),
                 std::runtime_error);
    EXPECT_EQ(timesVisited(100, 1), std::vector<int>(100, 1));
}

} // namespace
} // namespace workbench::ops
