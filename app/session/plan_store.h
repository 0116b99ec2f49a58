#pragma once

#include "app/session/job.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <optional>
#include <string>

namespace workbench {

/// What a file held: tells a later look whether somebody else changed it. Empty: there was no file.
struct FileContent {
    std::string sha256;
    bool operator==(const FileContent&) const = default;
};
Result<FileContent> contentOf(const std::filesystem::path& file);

struct StoredPlan {
    FusionPlan plan;
    FileContent content;
};
Result<StoredPlan> loadPlan(const std::filesystem::path& file);

/// Writes a plan; atomically. `known`: what the file held when it was last read or written here; when it
/// holds something else by now it stays, and the error's code is `usage`: somebody else saved it meanwhile,
/// ask. Without `known` whatever is there is replaced. Two windows that save at once do so one after the
/// other.
Result<FileContent> storePlan(const FusionPlan& plan, const std::filesystem::path& file,
                              const std::optional<FileContent>& known, const std::filesystem::path& cache,
                              const Job& job);

} // namespace workbench
