#include "app/session/runtime.h"

#include "core/graph/text.h"

#include <limits>

namespace workbench {

using nlohmann::json;

Status Runtime::ensure(const Job& job) {
    if (m_worker && m_worker->alive())
        return Ok{};
    m_worker.reset();
    auto words = findWorker(m_locations, m_command);
    if (!words)
        return words.error();
    job.report("worker", words->front());
    auto started = WorkerClient::start(std::move(words).value(), job);
    if (!started)
        return started.error();
    m_worker.emplace(std::move(started).value());
    return Ok{};
}

Result<WorkerClient::Answer> Runtime::call(const std::string& method, json params, const Job& job,
                                           const WorkerClient::EventHandler& onEvent) {
    if (auto ready = ensure(job); !ready)
        return ready.error();
    const auto handler = [&](const json& event) {
        if (event.value("event", "") == "progress")
            job.report(method, event.value("stage", "") + " " +
                                   std::to_string(event.value("done", std::int64_t{0})) + "/" +
                                   std::to_string(event.value("total", std::int64_t{0})));
        else if (onEvent)
            onEvent(event);
    };
    return m_worker->call(method, std::move(params), job, handler);
}

/// A worker that was named may run anywhere: what it cannot read may well be here.
Error Runtime::withPlace(Error error) const {
    if (error.code == ErrorCode::badInput)
        error.message += " The worker looked where it runs: the model and the cache " +
                         m_locations.cache.string() + " must be there under the same names.";
    return error;
}

Status Runtime::load(const std::string& name, const Graph& graph, const json& weights, const Job& job,
                     const std::string& device) {
    job.report("load", name);
    json params = {{"name", name}, {"graph", print(graph)}, {"weights", weights}, {"device", device}};
    auto answer = call("load", std::move(params), job);
    if (!answer)
        return m_command.empty() ? answer.error() : withPlace(answer.error());
    return Ok{};
}

Result<json> Runtime::hello(const Job& job) {
    if (auto ready = ensure(job); !ready)
        return ready.error();
    return m_worker->hello();
}

Result<Logits> runLogits(Runtime& runtime, const std::string& program,
                         const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& positions,
                         const std::vector<std::int64_t>& rows, const Job& job) {
    job.report("run", program);
    auto answer = runtime.call(
        "run", {{"program", program}, {"tokens", tokens}, {"positions", positions}, {"rows", rows}}, job);
    if (!answer)
        return answer.error();
    Logits logits;
    logits.rows = answer->result.value("rows", std::int64_t{0});
    logits.vocabulary = answer->result.value("vocabulary", std::int64_t{0});
    logits.bytes = std::move(answer->payload);
    const auto expected = static_cast<std::size_t>(logits.rows * logits.vocabulary) * sizeof(float);
    if (logits.rows != static_cast<std::int64_t>(rows.size()) || logits.vocabulary <= 0 ||
        logits.bytes.size() != expected)
        return Error{ErrorCode::runtimeFailed, "the worker's logits do not have the size that it states",
                     program};
    return logits;
}

double numberOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::int64_t> integersOf(const json& object, const char* key) {
    std::vector<std::int64_t> values;
    const auto found = object.find(key);
    if (found != object.end() && found->is_array())
        for (const json& value : *found)
            values.push_back(value.is_number_integer() ? value.get<std::int64_t>() : -1);
    return values;
}

} // namespace workbench
