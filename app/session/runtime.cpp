#include "app/session/runtime.h"

#include "app/session/product_weights.h"
#include "core/graph/text.h"
#include "core/support/read_file.h"
#include "core/support/sha256.h"

#include <span>

namespace workbench {

using nlohmann::json;

namespace {

bool isWithinDirectory(const std::filesystem::path& file, const std::filesystem::path& directory) {
    const std::filesystem::path relative = file.lexically_relative(directory);
    return !directory.empty() && !relative.empty() && *relative.begin() != "..";
}

} // namespace

Status Runtime::ensure(const Job& job) {
    if (m_worker && m_worker->alive())
        return Ok{};
    m_worker.reset();
    m_sent.clear();
    m_products = json::object();
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

Status Runtime::notify(const std::string& method, json params) {
    return m_worker ? m_worker->notify(method, std::move(params))
                    : Status(Error{ErrorCode::runtimeFailed, "the worker has ended", {}});
}

/// A worker that was named may run anywhere: what it cannot read may well be here.
Error Runtime::withPlace(Error error) const {
    if (error.code == ErrorCode::badInput)
        error.message += " The worker looked where it runs: the model must be there under the same name, or "
                         "--worker-model must say where it is.";
    return error;
}

json Runtime::weightsOf(const TracedModel& model) const {
    const bool fromDirectory = !model.parameters.empty() && hasWeights(model);
    const std::filesystem::path& directory = m_modelThere.empty() ? model.directory : m_modelThere;
    return {{"directory", fromDirectory ? directory.string() : ""},
            {"map", fromDirectory ? model.parameters : json::object()},
            {"archive", model.archive.string()},
            {"format", m_weightFormat}};
}

Result<std::string> Runtime::sendArchive(const std::filesystem::path& archive, const Job& job) {
    auto bytes = readFile(archive);
    if (!bytes)
        return bytes.error();
    const std::string name = sha256Hex(*bytes);
    if (const auto known = m_sent.find(name); known != m_sent.end())
        return known->second;
    job.report("send", archive.filename().string());
    const auto view = std::as_bytes(std::span(*bytes));
    auto answer = m_worker->call("receive", {{"name", name}}, job, {}, {view.begin(), view.end()});
    if (!answer)
        return answer.error();
    const auto path = answer->result.find("path");
    if (path == answer->result.end() || !path->is_string())
        return Error{ErrorCode::runtimeFailed, "the worker does not say where it keeps what it was sent",
                     archive.string()};
    return m_sent[name] = path->get<std::string>();
}

Status Runtime::sendWeights(json& weights, const Job& job) {
    // The trace is in this machine's cache. An archive of the user's own is, like the model, to be there.
    if (const std::filesystem::path archive = weights.value("archive", "");
        !m_command.empty() && isWithinDirectory(archive, m_locations.cache)) {
        auto there = sendArchive(archive, job);
        if (!there)
            return there.error();
        weights["archive"] = *there;
    }
    return Ok{};
}

Status Runtime::load(const std::string& name, const Graph& graph, json weights, const Job& job,
                     const std::string& device) {
    if (auto ready = ensure(job); !ready)
        return ready.error();
    if (auto sent = sendWeights(weights, job); !sent)
        return sent;
    job.report("load", name);
    const std::string format = weights.value("format", kStoredWeights);
    json params = {{"name", name},
                   {"graph", print(graph)},
                   {"weights", std::move(weights)},
                   {"device", device.empty() ? m_device : device}};
    auto answer = call("load", std::move(params), job);
    if (!answer)
        return m_command.empty() ? answer.error() : withPlace(answer.error());
    noteProducts(name, answer->result, format);
    return Ok{};
}

void Runtime::tell(const std::string& sentence) {
    if (m_noticed.insert(sentence).second && m_onNotice)
        m_onNotice(sentence);
}

void Runtime::noteProducts(const std::string& program, const json& answer, const std::string& format) {
    m_products.erase(program);
    const auto products = answer.find("products");
    if (products == answer.end())
        return;
    m_products[program] = *products;
    // Once for all programs that are the same in this.
    const std::string what = describeProducts(*products, format);
    if (leavesProductWeights(*products) && m_noticed.insert(what).second)
        tell(format + " weights reach a part of the model only: in the program '" + program + "' " + what);
}

Result<WorkerClient> Runtime::takeWorker(const Job& job) {
    if (auto ready = ensure(job); !ready)
        return ready.error();
    WorkerClient worker = std::move(*m_worker);
    m_worker.reset();
    m_sent.clear();
    return worker;
}

Status Runtime::loadNative(const std::string& name, const TracedModel& model, json weights, const Job& job) {
    const auto none = [&](const std::string& why) { return Error{ErrorCode::requirementFailed, why, name}; };
    if (model.directory.empty())
        return none("An archive has no config.json, which hand-written code needs.");
    auto text = readFile(model.directory / "config.json");
    if (!text)
        return none(text.error().message);
    auto config = json::parse(*text, nullptr, false);
    if (!config.is_object())
        return none("The model's config.json is no JSON object.");
    if (auto ready = ensure(job); !ready)
        return ready.error();
    if (auto sent = sendWeights(weights, job); !sent)
        return sent;
    json parameters = json::array();
    for (const Input& input : model.canonical.inputs)
        if (input.kind == Input::Kind::parameter)
            parameters.push_back(input.target);
    job.report("load", name);
    auto answer = call("load_native",
                       {{"name", name},
                        {"config", std::move(config)},
                        {"dtype", model.facts.dtype},
                        {"parameters", std::move(parameters)},
                        {"weights", std::move(weights)}},
                       job);
    if (!answer)
        return answer.error();
    if (answer->result.value("available", false))
        return Ok{};
    return none(answer->result.value("reason", "The worker does not say why."));
}

Result<json> Runtime::hello(const Job& job) {
    if (auto ready = ensure(job); !ready)
        return ready.error();
    return m_worker->hello();
}

Result<Logits> runLogits(Runtime& runtime, const std::string& program,
                         const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& positions,
                         const std::vector<std::int64_t>& rows, const Job& job, LogitsBy by) {
    job.report("run", program);
    auto answer = runtime.call("run",
                               {{"program", program},
                                {"tokens", tokens},
                                {"positions", positions},
                                {"rows", rows},
                                {"engine", by == LogitsBy::engine}},
                               job);
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

} // namespace workbench
