#include "core/plan/plan.h"
#include "core/support/atomic_file.h"
#include "core/support/read_file.h"

namespace workbench {

Result<FusionPlan> readPlan(const std::filesystem::path& file) {
    auto text = readFile(file);
    if (!text)
        return text.error();
    return planFromJson(*text, file.string());
}

Status writePlan(const FusionPlan& plan, const std::filesystem::path& file) {
    return writeFileAtomically(file, toJson(plan));
}

} // namespace workbench
