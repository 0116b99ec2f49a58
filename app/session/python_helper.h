#pragma once

#include "app/session/job.h"
#include "app/session/tracer.h"
#include "core/support/subprocess.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace workbench {

/// A command of the tracer's Python package that answers JSON lines with JSON lines. One request at a time;
/// one thread at a time.
class PythonHelper {
public:
    /// `name`: how errors call it, "the tokenizer". `arguments`: the command's words.
    static Result<PythonHelper> start(const Tracer& tracer, std::string name,
                                      std::vector<std::string> arguments);

    /// badInput: the request was refused; runtimeFailed: the helper is gone. Cancelled by the job: the helper
    /// is of no more use.
    Result<nlohmann::json> request(const nlohmann::json& request, const Job& job);
    /// What the helper says next, unasked.
    Result<nlohmann::json> answer(const Job& job);

private:
    PythonHelper(std::string name, Subprocess process)
        : m_name(std::move(name)), m_process(std::move(process)) {}
    Result<std::string> readLine(const Job& job);
    Error died();

    std::string m_name;
    Subprocess m_process;
    std::string m_pending; ///< read, but not yet a whole line
};

} // namespace workbench
