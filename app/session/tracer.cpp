#include "app/session/tracer.h"

#include "app/session/json_fields.h"
#include "app/session/python_path.h"
#include "core/support/subprocess.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace workbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What the tracer said on its stdout.
struct Messages {
    json last;  ///< the last one that is neither progress nor an error
    json error; ///< null when it reported none
};

/// A line that is no JSON object comes from a model's own code that prints: it says nothing to us.
void receive(std::string_view line, Messages& messages, const Job& job) {
    json message = json::parse(line, nullptr, false);
    if (!message.is_object())
        return;
    const std::string event = textOf(message, "event");
    if (event == "stage" || event == "progress")
        job.report(textOf(message, "name"), textOf(message, "detail"));
    else if (event == "error")
        messages.error = std::move(message);
    else
        messages.last = std::move(message);
}

Error reportedError(const Messages& messages, const ExitState& exit) {
    const std::string message = textOf(messages.error, "message");
    return {exit.signal == 0 && exit.status == 3 ? ErrorCode::badInput : ErrorCode::cannotTrace,
            message.empty() ? "the tracer failed without a reason" : message,
            textOf(messages.error, "where")};
}

/// Death without a message of its own: the last line of stderr is the best witness.
Error died(const Finished& finished) {
    const std::string witness = lastLine(finished.errorTail);
    return {ErrorCode::cannotTrace,
            "the tracer " + finished.exit.text() + (witness.empty() ? std::string() : ": " + witness),
            {}};
}

std::vector<std::string> traceArguments(const char* subcommand, const fs::path& model,
                                        const TraceOptions& options) {
    std::vector<std::string> arguments = {subcommand, "--model", model.string(), "--dtype"};
    arguments.emplace_back(options.dtype == TraceDtype::f32    ? "float32"
                           : options.dtype == TraceDtype::bf16 ? "bfloat16"
                                                               : "auto");
    if (options.trustRemoteCode)
        arguments.emplace_back("--trust-remote-code");
    if (options.replica)
        arguments.insert(arguments.end(),
                         {"--replica", "--no-proof"}); // the model's own trace has proven the plug-in
    return arguments;
}

} // namespace

std::string nameOf(TraceDtype dtype) {
    const auto found = std::find_if(kTraceDtypes.begin(), kTraceDtypes.end(),
                                    [&](const auto& entry) { return entry.second == dtype; });
    return std::string(found->first);
}

std::optional<TraceDtype> traceDtypeFromName(std::string_view name) {
    for (const auto& [known, dtype] : kTraceDtypes)
        if (known == name)
            return dtype;
    return std::nullopt;
}

std::map<std::string, std::string> pythonEnvironment(const fs::path& packages) {
    return {{"PYTHONPATH", pythonPath(packages)},
            {"PYTHONSAFEPATH", "1"}, // never a module from the current folder, which may be that of a model
            {"PYTHONUNBUFFERED", "1"},
            {"PYTHONIOENCODING", "utf-8"},
            {"HF_HUB_DISABLE_PROGRESS_BARS", "1"},
            {"HF_HUB_DISABLE_TELEMETRY", "1"}};
}

Result<Tracer> Tracer::create(const Locations& locations) {
    auto python = findPython(locations);
    if (!python)
        return python.error();
    Tracer tracer;
    tracer.m_python = *python;
    tracer.m_packages = locations.resources / "python";
    return tracer;
}

std::vector<std::string> Tracer::commandWords(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {m_python.string(), "-m", "workbench_tracer"});
    return arguments;
}

Result<json> Tracer::run(std::vector<std::string> arguments, std::chrono::seconds timeLimit,
                         const Job& job) const {
    Messages messages;
    LineOptions options;
    options.cancel = job.cancel;
    options.timeLimit = timeLimit;
    options.input = LineOptions::Input::held;
    options.onLine = [&](std::string_view line) { receive(line, messages, job); };
    auto finished =
        runLines({commandWords(std::move(arguments)), pythonEnvironment(m_packages), {}}, options);
    if (!finished)
        return Error{ErrorCode::cannotTrace, finished.error().message + "; run `workbench setup`", {}};
    if (finished->how == Finished::How::cancelled)
        return cancelledError();
    if (finished->how == Finished::How::timedOut)
        return Error{ErrorCode::cannotTrace,
                     "the tracer did not finish within " + std::to_string(timeLimit.count()) +
                         " s: give it more with --time-limit",
                     {}};
    if (!messages.error.is_null())
        return reportedError(messages, finished->exit);
    if (!finished->exit.success())
        return died(*finished);
    return messages.last;
}

Result<Tracer::Resolved> Tracer::resolve(const std::string& name, bool needsWeights, const Job& job) const {
    std::vector<std::string> arguments{"resolve", "--model", name, "--download"};
    if (needsWeights)
        arguments.emplace_back("--weights");
    auto answer = run(std::move(arguments), {}, job);
    if (!answer)
        return answer.error();
    const fs::path path = textOf(*answer, "path");
    if (path.empty())
        return Error{ErrorCode::cannotTrace, "the tracer did not say where the model '" + name + "' is",
                     name};
    return Resolved{path, textOf(*answer, "warning")};
}

Result<std::string> Tracer::cacheKey(const fs::path& model, const TraceOptions& options,
                                     const Job& job) const {
    auto answer = run(traceArguments("cache-key", model, options), options.timeLimit, job);
    if (!answer)
        return answer.error();
    std::string key = textOf(*answer, "key");
    const bool plain = std::all_of(key.begin(), key.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
    if (key.empty() || !plain)
        return Error{ErrorCode::cannotTrace, "the tracer gave no usable cache key for " + model.string(),
                     model.string()};
    return key;
}

Status Tracer::trace(const fs::path& model, const fs::path& out, const TraceOptions& options,
                     const Job& job) const {
    std::vector<std::string> arguments = traceArguments("trace", model, options);
    arguments.insert(arguments.end(), {"--out", out.string()});
    auto answer = run(std::move(arguments), options.timeLimit, job);
    if (!answer)
        return answer.error();
    std::error_code error;
    if (!fs::is_regular_file(out / "trace.pt2", error) || !fs::is_regular_file(out / "trace.json", error))
        return Error{ErrorCode::cannotTrace, "the tracer ended without a trace of " + model.string(),
                     model.string()};
    return Ok{};
}

Result<json> Tracer::writeSources(const fs::path& request, const fs::path& out, const Job& job) const {
    return run({"source-form", "--request", request.string(), "--out", out.string()}, {}, job);
}

} // namespace workbench
