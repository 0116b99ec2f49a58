#pragma once

#include "core/layout/flat_problem.h"
#include "core/support/cancel.h"
#include "core/support/result.h"
#include "core/support/subprocess.h"

#include <chrono>
#include <filesystem>
#include <optional>

namespace workbench {

/// The process that runs Graphviz: started when it is first needed, kept for the next problem, killed by a
/// cancel or at a time limit. One thread at a time.
class LayoutHelper {
public:
    explicit LayoutHelper(std::filesystem::path program) : m_program(std::move(program)) {}

    Status start();
    Result<FlatSolution> solve(const FlatProblem& problem, std::chrono::steady_clock::time_point deadline,
                               const CancelToken* cancel);

private:
    Status awaitAnswer(std::chrono::steady_clock::time_point deadline, const CancelToken* cancel);
    Result<FlatSolution> readAnswer(const FlatProblem& problem);
    Error died();
    void stop();

    std::filesystem::path m_program;
    std::optional<Subprocess> m_process;
};

} // namespace workbench
