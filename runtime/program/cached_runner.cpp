#include "runtime/program/cached_runner.h"

#include "runtime/program/device_runner.h"
#include "runtime/program/program_runner.h"
#include "runtime/program/torch_edge.h"

namespace workbench {
namespace {

template <class Runner>
Result<std::unique_ptr<CachedRunner>> asCached(Result<std::unique_ptr<Runner>> runner) {
    if (!runner)
        return runner.error();
    return std::unique_ptr<CachedRunner>(std::move(*runner));
}

} // namespace

Result<CachedModel> cachedModel(LanguageModel& model, const PagedKvOptions& options) {
    auto usable = model.canUseCache();
    if (!usable)
        return usable.error();
    if (!*usable)
        return Error{ErrorCode::runtimeFailed, "The model cannot decode with a KV cache.", {}};
    auto cache = guarded("Making room for the KV cache", [&]() -> Result<PagedKvCache> {
        auto shapes = model.program().attentionShapes();
        if (!shapes)
            return shapes.error();
        return PagedKvCache::create(*shapes, options);
    });
    if (!cache)
        return cache.error();
    return guarded("Preparing the model for the engine", [&]() -> Result<CachedModel> {
        auto served = model.forEngine();
        if (!served)
            return served.error();
        return CachedModel{std::move(*served), std::move(*cache)};
    });
}

Result<std::unique_ptr<CachedRunner>> makeRunner(LanguageModel& model, const PagedKvOptions& options) {
    const Placement& placement = model.program().placement();
    return placement.direct ? asCached(ProgramRunner::create(model, options))
                            : asCached(DeviceRunner::create(model, options, recorderOf(placement.device)));
}

} // namespace workbench
