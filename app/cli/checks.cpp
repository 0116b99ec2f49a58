#include "app/cli/commands.h"
#include "core/support/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workbench::cli {
namespace {

namespace fs = std::filesystem;

Error unwritable(const fs::path& path, const std::string& why) {
    return {ErrorCode::badInput, path.string() + " cannot be written: " + why, path.string()};
}

/// Sites that count for a requirement: fused ones, or every site found while nothing is decided.
std::int64_t countSites(const Session& session, const Rewritten& rewritten, const std::string& pattern,
                        bool decided) {
    using State = SiteOutcome::State;
    const Analysis& analysis = session.model().analysis;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        const Site& site = analysis.sites[i];
        if (site.pattern != pattern)
            continue;
        const State state = rewritten.outcomes[i].state;
        const bool fused = state == State::applied || state == State::contained || state == State::present;
        count += decided ? fused : site.verdict != SiteVerdict::refused;
    }
    return count;
}

/// The archive itself, or what a model directory is made of: a plan or picture of an earlier run is not.
bool belongsTo(const fs::path& file, const fs::path& model) {
    std::error_code error;
    if (fs::equivalent(file, model, error))
        return true;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (!fs::exists(file, error) || !fs::equivalent(folder, model, error))
        return false;
    const std::string name = file.filename().string(), extension = file.extension().string();
    for (const char* own :
         {"config.json", "generation_config.json", "model.safetensors.index.json", "special_tokens_map.json",
          "added_tokens.json", "vocab.json", "vocab.txt", "merges.txt", "chat_template.json",
          "preprocessor_config.json", "processor_config.json"})
        if (name == own)
            return true;
    return name.starts_with("tokenizer") || extension == ".safetensors" || extension == ".bin" ||
           extension == ".py" || extension == ".jinja" || extension == ".model";
}

} // namespace

Status checkWritableFile(const fs::path& file, const std::string& model) {
    if (file.empty())
        return Ok{};
    std::error_code error;
    if (belongsTo(file, model))
        return unwritable(file, "it belongs to the model " + model + "; name another file");
    if (fs::is_directory(file, error))
        return unwritable(file, "it is a folder");
    // A pipe or device is not opened before there is something to write: its reader would take that for the
    // end.
    if (fs::exists(file, error) && !fs::is_regular_file(file, error))
        return ::access(file.c_str(), W_OK) == 0 ? Status(Ok{}) : unwritable(file, std::strerror(errno));
    auto created = AtomicFile::create(file); // removed again: it is never committed
    if (!created)
        return created.error();
    return Ok{};
}

Status checkWritableFolder(const fs::path& folder, const std::string& model) {
    if (folder.empty())
        return Ok{};
    std::error_code error;
    if (fs::equivalent(folder, model, error))
        return unwritable(folder, "it is the model itself; name another folder");
    fs::path existing = fs::absolute(folder, error).lexically_normal();
    if (error)
        return unwritable(folder, "the current folder is gone");
    while (!fs::exists(existing, error) && existing.has_relative_path())
        existing = existing.parent_path();
    if (!fs::is_directory(existing, error))
        return unwritable(folder, existing.string() + " is no folder");
    if (::access(existing.c_str(), W_OK | X_OK) != 0)
        return unwritable(folder, std::strerror(errno));
    return Ok{};
}

Status checkRequirements(const std::vector<Requirement>& requirements, const Session& session,
                         const Rewritten& rewritten, bool decided) {
    for (const Requirement& requirement : requirements) {
        const std::int64_t count = countSites(session, rewritten, requirement.pattern, decided);
        if (requirement.exact ? count == requirement.count : count >= requirement.count)
            continue;
        return Error{ErrorCode::requirementFailed,
                     "the requirement " + requirement.pattern + (requirement.exact ? "=" : ">=") +
                         std::to_string(requirement.count) + " is not met: " + std::to_string(count) +
                         " sites are " + (decided ? "fused" : "found") + "; see `workbench inspect`",
                     requirement.pattern};
    }
    return Ok{};
}

} // namespace workbench::cli
