#include "app/session/plan_store.h"

#include "app/session/file_lock.h"
#include "core/support/read_file.h"
#include "core/support/sha256.h"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Locks are kept apart from the plans, whose folder may be somebody else's or a repository.
Result<FileLock> lockFor(const fs::path& file, const fs::path& cache, const Job& job) {
    const fs::path folder = cache / "locks";
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path whole = fs::weakly_canonical(file, error);
    return FileLock::take(folder / (sha256Hex(whole.string()) + ".lock"), "another window saves this plan",
                          job);
}

} // namespace

Result<FileContent> contentOf(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error))
        return FileContent{};
    auto bytes = readFile(file);
    if (!bytes)
        return bytes.error();
    return FileContent{sha256Hex(*bytes)};
}

Result<StoredPlan> loadPlan(const fs::path& file) {
    auto bytes = readFile(file);
    if (!bytes)
        return bytes.error();
    auto plan = planFromJson(*bytes, file.string());
    if (!plan)
        return plan.error();
    return StoredPlan{std::move(plan).value(), {sha256Hex(*bytes)}};
}

Result<FileContent> storePlan(const FusionPlan& plan, const fs::path& file,
                              const std::optional<FileContent>& known, const fs::path& cache,
                              const Job& job) {
    auto lock = lockFor(file, cache, job);
    if (!lock)
        return lock.error();
    if (known) {
        auto found = contentOf(file);
        if (!found)
            return found.error();
        if (*found != *known)
            return Error{ErrorCode::usage,
                         "the plan " + file.string() + " was " +
                             (found->sha256.empty() ? "removed" : "changed by somebody else") +
                             " since it was opened: save under another name, or replace it",
                         file.string()};
    }
    if (auto written = writePlan(plan, file); !written)
        return written.error();
    return contentOf(file);
}

} // namespace workbench
