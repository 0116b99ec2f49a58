#pragma once

#include "app/session/bench_report.h"
#include "app/session/python_helper.h"
#include "app/session/session.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace workbench {

/// The model as transformers runs it, in a Python process of its own: a column of the measurement.
class EagerClient {
public:
    /// Loads the model, which takes its weights' memory once more. An Error says why it cannot be had.
    static Result<EagerClient> start(const Session& session, std::int64_t threads, const Job& job);

    /// One round: {"requests": [{"arrival_s", "prompt_tokens", "token_s"}]}, as in the worker's "sample".
    /// `prompt`: tokens of the round's prompt; empty: the load's made-up ones.
    Result<nlohmann::json> round(const BenchLoad& load, const std::vector<std::int64_t>& prompt,
                                 const Job& job);

private:
    explicit EagerClient(PythonHelper helper) : m_helper(std::move(helper)) {}

    PythonHelper m_helper;
};

} // namespace workbench
