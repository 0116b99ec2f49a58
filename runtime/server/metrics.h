#pragma once

#include "runtime/server/text_backend.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace workbench {

/// Counts observations by their upper bounds, as Prometheus does.
class Histogram {
public:
    void add(double seconds);
    /// Lines of the Prometheus text format.
    std::string text(const std::string& name, const std::string& help) const;

private:
    static constexpr std::array<double, 12> kBounds{0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                    1,    2.5,   5,    10,  30,   120};
    std::array<std::int64_t, kBounds.size() + 1> m_counts{};
    double m_sum = 0;
};

/// What the server counts. Any thread.
class Metrics {
public:
    /// An answered request; status 499: its client left before the end.
    void addRequest(const std::string& endpoint, int status, double seconds);
    void addFirstToken(double seconds);
    void addTokens(std::int64_t prompt, std::int64_t text);

    /// All of it in the Prometheus text format, with the engine's own where they can be had.
    std::string text(std::int64_t inFlight, const std::optional<BackendStats>& engine) const;

private:
    mutable std::mutex m_mutex;
    std::map<std::pair<std::string, int>, std::int64_t> m_requests; ///< by endpoint and status
    Histogram m_seconds;
    Histogram m_firstToken;
    std::int64_t m_promptTokens = 0;
    std::int64_t m_textTokens = 0;
};

} // namespace workbench
