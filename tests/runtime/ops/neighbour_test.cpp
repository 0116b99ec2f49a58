// How much of its speed a chain of small products keeps while another thread wants one of the cores now and
// then.
#include "runtime/ops/linear.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace workbench::ops {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Busy for 20 of every 100 ms, on the last core.
class Neighbour {
public:
    Neighbour() : m_thread([this] { work(); }) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(std::thread::hardware_concurrency() - 1, &cores);
        pthread_setaffinity_np(m_thread.native_handle(), sizeof cores, &cores);
    }
    ~Neighbour() {
        m_stop = true;
        m_thread.join();
    }
    Neighbour(const Neighbour&) = delete;
    Neighbour& operator=(const Neighbour&) = delete;

private:
    void work() {
        while (!m_stop) {
            const auto start = Clock::now();
            while (Clock::now() - start < milliseconds(20)) {
            }
            std::this_thread::sleep_until(start + milliseconds(100));
        }
    }
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

/// Processor seconds of this process.
double ownSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Processor seconds of the machine: user, nice and system, in hundredths, from its first line.
double machineSeconds() {
    std::ifstream file("/proc/stat");
    std::string cpu;
    double user = 0;
    double nice = 0;
    double system = 0;
    file >> cpu >> user >> nice >> system;
    return (user + nice + system) / 100;
}

/// Products per second over one second: a decode step's row through the weights of a small model.
double speed(const std::vector<PackedWeight>& weights, const at::Tensor& row) {
    const auto start = Clock::now();
    int64_t products = 0;
    while (secondsSince(start) < 1)
        for (const PackedWeight& weight : weights) {
            linear(row, weight, std::nullopt);
            ++products;
        }
    return static_cast<double>(products) / secondsSince(start);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

TEST(Products, KeepFourFifthsOfTheirSpeedBesideANeighbourThatIsBusyAFifthOfTheTime) {
    if (std::thread::hardware_concurrency() < 2)
        GTEST_SKIP() << "the machine has one core";
    at::set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
    std::vector<PackedWeight> weights;
    for (int i = 0; i < 30; ++i)
        weights.push_back(PackedWeight::of(at::randn({1536, 576}).to(at::kBFloat16)));
    const at::Tensor row = at::randn({1, 576}).to(at::kBFloat16);
    speed(weights, row);
    std::vector<double> quiet;
    std::vector<double> busy;
    const auto start = Clock::now();
    const double foreign = machineSeconds() - ownSeconds();
    for (int round = 0; round < 5; ++round) {
        quiet.push_back(speed(weights, row));
        const Neighbour neighbour;
        busy.push_back(speed(weights, row));
    }
    const double cores = (machineSeconds() - ownSeconds() - foreign) / secondsSince(start);
    const double kept = median(busy) / median(quiet);
    if (cores > 0.15)
        GTEST_SKIP() << "other processes used " << cores << " cores; kept " << kept << " of the speed";
    EXPECT_GE(kept, 0.8);
}

} // namespace
} // namespace workbench::ops
