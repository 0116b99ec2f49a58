#include "runtime/worker/workshop.h"

#include "runtime/program/engine_logits.h"
#include "runtime/program/torch_edge.h"
#include "runtime/worker/devices.h"
#include "runtime/worker/tokens.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include <cstring>
#include <functional>

namespace workbench {

void Workshop::handle(const std::shared_ptr<Request>& request) {
    if (request->method() == "generate")
        return generateText(request);
    if (request->method() != "stats")
        finish();
    request->answer(answerTo(*request));
}

void Workshop::finish() {
    for (auto& [name, loaded] : m_loaded)
        if (loaded.engine)
            loaded.engine->waitIdle();
}

Result<Reply> Workshop::answerTo(const Request& request) {
    using Method = Result<Reply> (Workshop::*)(const Request&);
    static const std::map<std::string, Method, std::less<>> kMethods{
        {"hello", &Workshop::hello}, {"receive", &Workshop::receive},
        {"load", &Workshop::load},   {"load_native", &Workshop::loadNative},
        {"run", &Workshop::run},     {"verify", &Workshop::verify},
        {"bench", &Workshop::bench}, {"engine", &Workshop::engine},
        {"stats", &Workshop::stats},
    };
    const auto method = kMethods.find(request.method());
    if (method == kMethods.end())
        return Error{ErrorCode::runtimeFailed,
                     "The worker has no method '" + request.method() +
                         "'; it may be older than the workbench.",
                     {}};
    if (request.cancelled())
        return Error{ErrorCode::cancelled, "The request was cancelled.", {}};
    return guarded("The request '" + request.method() + "'",
                   [&] { return (this->*method->second)(request); });
}

Result<Reply> Workshop::hello(const Request&) {
    return Reply{{{"version", WORKBENCH_VERSION},
                  {"torch", TORCH_VERSION},
                  {"threads", at::get_num_threads()},
                  {"isa", at::get_cpu_capability()},
                  {"devices", deviceNames()}}};
}

Result<Reply> Workshop::receive(const Request& request) {
    const auto name = required<std::string>(request.params(), "name");
    if (!name)
        return name.error();
    auto path = m_received.keep(*name, request.payload());
    if (!path)
        return path.error();
    return Reply{{{"path", path->string()}}};
}

Result<LanguageModel*> Workshop::modelNamed(const std::string& name) {
    const auto place = m_loaded.find(name);
    if (place == m_loaded.end())
        return Error{ErrorCode::runtimeFailed, "No program called '" + name + "' is loaded.", name};
    return &place->second.model;
}

Result<LanguageModel*> Workshop::model(const Request& request, const char* key) {
    auto name = required<std::string>(request.params(), key);
    if (!name)
        return name.error();
    return modelNamed(*name);
}

Result<Reply> Workshop::run(const Request& request) {
    auto program = model(request, "program");
    if (!program)
        return program.error();
    auto batch = tokenBatch(request.params());
    if (!batch)
        return batch.error();
    auto byEngine = optional<bool>(request.params(), "engine", false);
    if (!byEngine)
        return byEngine.error();
    auto logits = *byEngine ? engineLogits(**program, *batch, request.cancelled())
                            : (*program)->logits(*batch, {.cancel = &request.cancelled()});
    if (!logits)
        return logits.error();
    Reply reply{{{"rows", logits->size(0)}, {"vocabulary", logits->size(1)}}};
    reply.payload.resize(logits->nbytes());
    if (!reply.payload.empty())
        std::memcpy(reply.payload.data(), logits->const_data_ptr(), reply.payload.size());
    return reply;
}

} // namespace workbench
