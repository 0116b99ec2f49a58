#include "app/session/eager_client.h"

#include <utility>

namespace workbench {
namespace {

using nlohmann::json;

json requestsOf(const BenchLoad& load, const std::vector<std::int64_t>& prompt) {
    json requests = json::array();
    for (const TraceRequest& request : load.trace)
        requests.push_back({{"arrival_s", request.arrivalSeconds},
                            {"prompt_tokens", request.promptTokens},
                            {"new_tokens", request.newTokens}});
    for (std::int64_t i = 0; load.trace.empty() && i < load.concurrency; ++i) {
        requests.push_back(
            {{"arrival_s", 0}, {"prompt_tokens", load.promptTokens}, {"new_tokens", load.newTokens}});
        if (!prompt.empty())
            requests.back()["prompt"] = prompt;
    }
    return requests;
}

} // namespace

Result<EagerClient> EagerClient::start(const Session& session, std::int64_t threads, const Job& job) {
    const TracedModel& model = session.model();
    if (model.directory.empty() || !session.tracer())
        return Error{ErrorCode::badInput, "An archive is not a model that transformers can load.",
                     model.archive.string()};
    std::vector<std::string> arguments = {"eager",
                                          "--model",
                                          model.directory.string(),
                                          "--dtype",
                                          model.facts.dtype == "f32" ? "float32" : "bfloat16",
                                          "--threads",
                                          std::to_string(threads)};
    if (session.options().trustRemoteCode)
        arguments.emplace_back("--trust-remote-code");
    job.report("load", "transformers");
    auto helper = PythonHelper::start(*session.tracer(), "transformers", std::move(arguments));
    if (!helper)
        return helper.error();
    EagerClient client(std::move(helper).value());
    if (auto ready = client.m_helper.answer(job); !ready)
        return ready.error();
    return client;
}

Result<json> EagerClient::round(const BenchLoad& load, const std::vector<std::int64_t>& prompt,
                                const Job& job) {
    return m_helper.request({{"requests", requestsOf(load, prompt)}}, job);
}

} // namespace workbench
