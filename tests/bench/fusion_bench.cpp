#include "core/archive/trace_reader.h"
#include "fusion/fusion.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

/// Times canonical form, matching and rewriting of traced models on one core: `fusion_bench TRACE_DIR...`. A
/// directory may be followed by a limit in milliseconds, "DIR=20"; the exit code is 1 when a median is over
/// its limit.

namespace workbench {
namespace {

/// Time that this thread has had a core: what other processes do does not count.
struct Clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Clock, duration>;
    static constexpr bool is_steady = true;
    static time_point now() {
        timespec at{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
        return time_point(std::chrono::seconds(at.tv_sec) + duration(at.tv_nsec));
    }
};
constexpr int kRuns = 15;

struct Times {
    std::vector<double> canonical, matching, rewriting, total;
};

double milliseconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// One run of everything, all sites applied; false when the model cannot be fused.
bool run(const Graph& traced, Times& times, Analysis& analysis, std::size_t& nodes) {
    const auto start = Clock::now();
    const Result<Graph> canonical = canonicalize(traced);
    const auto afterCanonical = Clock::now();
    if (!canonical) {
        std::fprintf(stderr, "%s\n", canonical.error().message.c_str());
        return false;
    }
    analysis = analyze(*canonical);
    const auto afterMatching = Clock::now();
    Decisions decisions;
    for (const Site& site : analysis.sites)
        decisions.emplace(site.id, Decision::apply);
    const Result<Rewritten> rewritten = rewrite(*canonical, analysis, decisions);
    const auto end = Clock::now();
    if (!rewritten) {
        std::fprintf(stderr, "%s\n", rewritten.error().message.c_str());
        return false;
    }
    nodes = rewritten->graph.nodes.size();
    times.canonical.push_back(milliseconds(start, afterCanonical));
    times.matching.push_back(milliseconds(afterCanonical, afterMatching));
    times.rewriting.push_back(milliseconds(afterMatching, end));
    times.total.push_back(milliseconds(start, end));
    return true;
}

bool measure(const std::string& folder, double limit) {
    const Result<Trace> trace = readTrace(folder);
    if (!trace) {
        std::fprintf(stderr, "%s %s\n", trace.error().message.c_str(), trace.error().where.c_str());
        return false;
    }
    Times times;
    Analysis analysis;
    std::size_t nodes = 0;
    for (int i = 0; i < kRuns; ++i)
        if (!run(trace->graph, times, analysis, nodes))
            return false;
    const double total = median(times.total);
    std::printf("%s: %zu nodes -> %zu; canonical form %.2f ms, matching %.2f ms, rewriting %.2f ms, total "
                "%.2f ms (median of %d)\n",
                folder.c_str(), trace->graph.nodes.size(), nodes, median(times.canonical),
                median(times.matching), median(times.rewriting), total, kRuns);
    for (const Coverage& coverage : analysis.coverage)
        std::printf("  %s %lld/%lld", coverage.pattern.c_str(), static_cast<long long>(coverage.found),
                    static_cast<long long>(coverage.places));
    std::printf("\n");
    if (limit > 0 && total > limit) {
        std::fprintf(stderr, "%s takes %.2f ms, more than %.2f ms\n", folder.c_str(), total, limit);
        return false;
    }
    return true;
}

} // namespace
} // namespace workbench

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: fusion_bench TRACE_DIR[=MILLISECONDS]...\n");
        return 2;
    }
    bool good = true;
    for (int i = 1; i < count; ++i) {
        const std::string given = arguments[i];
        const std::size_t equals = given.rfind('=');
        const double limit = equals == std::string::npos ? 0 : std::atof(given.c_str() + equals + 1);
        good = workbench::measure(given.substr(0, equals), limit) && good;
    }
    return good ? 0 : 1;
}
