#pragma once

#include "app/session/bench_report.h"

#include <map>
#include <string>
#include <vector>

namespace workbench {

/// Names of the programs in the worker; those of leave-one-out are "without PATTERN".
inline constexpr const char* kBefore = "original";
inline constexpr const char* kAfter = "rewritten";
inline constexpr const char* kNative = "native";
inline constexpr const char* kEager = "eager"; ///< not in the worker

inline constexpr const char* kWithout = "without ";

/// Collects the worker's "sample" events into a report.
class BenchRecorder {
public:
    /// `start` names the patterns that are measured without.
    explicit BenchRecorder(BenchReport start) : m_report(std::move(start)) {}

    /// An Error for an event that is no sample of these programs.
    Status add(const nlohmann::json& event);
    /// Memory, profile and the check of hand-written code, of the worker's answer.
    void addSummary(const nlohmann::json& summary);
    /// transformers takes no part from now on.
    void dropEager(const std::string& reason);
    const BenchReport& report() const { return m_report; }

private:
    struct Times {
        std::vector<double> firstTokenMs;
        std::vector<double> tokenMs;
    };
    BenchProgram* program(const std::string& name);

    BenchReport m_report;
    std::map<std::string, Times> m_times; ///< by program
};

} // namespace workbench
