#include "runtime/program/cached_runner.h"

#include "runtime/program/device_runner.h"
#include "runtime/program/program_runner.h"

namespace workbench {

Result<std::unique_ptr<CachedRunner>> makeRunner(LanguageModel& model, PagedKvOptions options) {
    const Placement& placement = model.program().placement();
    if (placement.direct) {
        auto runner = ProgramRunner::create(model, options);
        if (!runner)
            return runner.error();
        return std::unique_ptr<CachedRunner>(std::move(*runner));
    }
    auto runner = DeviceRunner::create(model, options, recorderOf(placement.device));
    if (!runner)
        return runner.error();
    return std::unique_ptr<CachedRunner>(std::move(*runner));
}

} // namespace workbench
