#include "runtime/engine/engine.h"

#include "runtime/program/cached_runner.h"
#include "runtime/worker/devices.h"
#include "runtime/worker/workshop.h"

#include <algorithm>

namespace workbench {
namespace {

/// Of the KV cache where nobody sets its size. On the CPU, pages that no text ever needed are never taken; a
/// GPU's memory is taken at once, and is there for this.
std::int64_t defaultKvCacheBytes(c10::Device device) {
    constexpr std::int64_t kMost = std::int64_t{4} << 30;
    const std::int64_t half = availableBytes(device).value_or(2 * kMost) / 2;
    return device.is_cpu() ? std::min(kMost, half) : half;
}

Json toJson(const EngineStats& stats) {
    const SchedulerCounts& scheduler = stats.scheduler;
    return {{"running", scheduler.running},
            {"waiting", scheduler.waiting},
            {"finished", stats.finished},
            {"cancelled", stats.cancelled},
            {"failed", stats.failed},
            {"refused", stats.refused},
            {"preemptions", scheduler.preemptions},
            {"reused_tokens", scheduler.reusedTokens},
            {"computed_tokens", scheduler.computedTokens},
            {"new_tokens", stats.newTokens},
            {"steps", stats.steps},
            {"blocks", scheduler.blocks},
            {"free_blocks", scheduler.freeBlocks},
            {"step_s", stats.stepSeconds},
            {"model_s", stats.modelSeconds}};
}

} // namespace

/// The engine of a loaded program; nullptr for one that cannot use a KV cache.
Result<Engine*> Workshop::engineFor(const std::string& name) {
    Loaded& loaded = m_loaded.at(name);
    if (loaded.engine)
        return loaded.engine.get();
    auto cacheable = loaded.model.canUseCache();
    if (!cacheable)
        return cacheable.error();
    if (!*cacheable)
        return nullptr;
    const c10::Device device = loaded.model.program().placement().device;
    PagedKvOptions options{.bytes = loaded.kvCacheBytes};
    if (options.bytes == 0)
        options.bytes = defaultKvCacheBytes(device);
    auto runner = makeRunner(loaded.model, options);
    if (!runner)
        return runner.error();
    loaded.runner = runner->get();
    EngineOptions settings = loaded.engineOptions;
    settings.blocks = (*runner)->layout();
    auto engine = Engine::create(std::move(settings), std::move(*runner));
    if (!engine)
        return engine.error();
    loaded.engine = std::move(*engine);
    return loaded.engine.get();
}

/// Makes the program's engine anew. 0 stands for the default of each option.
Result<Reply> Workshop::engine(const Request& request) {
    const Json& params = request.params();
    auto name = required<std::string>(params, "program");
    auto stepTokens = optional<std::int64_t>(params, "max_batch_tokens", 0);
    auto queued = optional<std::int64_t>(params, "max_queue", 0);
    auto bytes = optional<std::int64_t>(params, "kv_cache_bytes", 0);
    if (const Error* error = firstError(name, stepTokens, queued, bytes))
        return *error;
    if (auto model = modelNamed(*name); !model)
        return model.error();
    if (*stepTokens < 0 || *queued < 0 || *bytes < 0)
        return Error{ErrorCode::badInput, "The engine's options must not be negative.", {}};
    Loaded& loaded = m_loaded.at(*name);
    loaded.engine.reset();
    loaded.engineOptions = {};
    loaded.kvCacheBytes = *bytes;
    if (*stepTokens > 0)
        loaded.engineOptions.limits.stepTokens = *stepTokens;
    if (*queued > 0)
        loaded.engineOptions.queuedRequests = *queued;
    auto made = engineFor(*name);
    if (!made)
        return made.error();
    return Reply{{{"kv_cache", *made != nullptr}, {"capacity_tokens", *made ? (*made)->capacityTokens() : 0}},
                 {}};
}

/// What the engine has counted; answered while texts grow.
Result<Reply> Workshop::stats(const Request& request) {
    auto name = required<std::string>(request.params(), "program");
    if (!name)
        return name.error();
    if (auto model = modelNamed(*name); !model)
        return model.error();
    const Loaded& loaded = m_loaded.at(*name);
    if (!loaded.engine)
        return Reply{Json::object(), {}};
    Reply reply{toJson(loaded.engine->stats()), {}};
    if (const std::string note = loaded.runner->note(); !note.empty())
        reply.result["note"] = note;
    return reply;
}

} // namespace workbench
