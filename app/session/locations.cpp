#include "app/session/locations.h"

#include "core/support/words.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace workbench {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// $HOME, else what the user database says; empty when neither is an absolute path.
fs::path homeFolder() {
    if (fs::path home = environment("HOME"); home.is_absolute())
        return home;
    const passwd* user = ::getpwuid(::geteuid());
    fs::path home = user && user->pw_dir ? user->pw_dir : "";
    return home.is_absolute() ? home : fs::path();
}

fs::path cacheRoot() {
    // A relative XDG path is invalid by its specification.
    if (const fs::path xdg = environment("XDG_CACHE_HOME"); xdg.is_absolute())
        return xdg / "fusion-workbench";
    if (const fs::path home = homeFolder(); !home.empty())
        return home / ".cache" / "fusion-workbench";
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    return (error ? fs::path("/tmp") : temporary) / ("fusion-workbench-" + std::to_string(::geteuid()));
}

std::optional<uid_t> ownerOf(const fs::path& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 ? std::optional(status.st_uid) : std::nullopt;
}

/// Programs that a stranger put into a cache among the temporary files are not run: they are ours, root's, or
/// of the one to whom the place of the cache belongs.
bool isTrusted(const fs::path& environment, const fs::path& cache) {
    const std::optional<uid_t> owner = ownerOf(environment);
    return owner && (*owner == ::geteuid() || *owner == 0 || owner == ownerOf(cache.parent_path()));
}

bool isExecutable(const fs::path& file) {
    std::error_code error;
    return ::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file, error);
}

/// The environment that was completed last; empty when there is none.
fs::path newestEnvironment(const fs::path& cache) {
    fs::path newest;
    fs::file_time_type time = fs::file_time_type::min();
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(cache, error)) {
        const fs::path mark = entry.path() / ".complete";
        const fs::path python = entry.path() / "bin" / "python";
        std::error_code unreadable;
        const auto completed = fs::last_write_time(mark, unreadable);
        if (entry.path().filename().string().starts_with("env-") && !unreadable && completed > time &&
            isTrusted(entry.path(), cache) && isExecutable(python)) {
            newest = python;
            time = completed;
        }
    }
    return newest;
}

} // namespace

Locations Locations::find() {
    Locations found;
    std::error_code error;
    found.executables = fs::read_symlink("/proc/self/exe", error).parent_path();
    const fs::path installed = (found.executables / ".." / "share" / "fusion-workbench").lexically_normal();
    found.resources =
        fs::is_directory(installed / "python", error) ? installed : fs::path(WORKBENCH_RESOURCES);
    found.cache = cacheRoot();
    return found;
}

Result<fs::path> findPython(const Locations& locations) {
    if (const std::string chosen = environment("WORKBENCH_PYTHON"); !chosen.empty()) {
        if (isExecutable(chosen))
            return fs::path(chosen);
        return Error{ErrorCode::cannotTrace,
                     "the Python that WORKBENCH_PYTHON names, " + chosen +
                         ", is not there: correct it, or unset it and run `workbench setup`",
                     chosen};
    }
    if (const fs::path configured = WORKBENCH_CONFIGURED_PYTHON;
        !configured.empty() && isExecutable(configured))
        return configured;
    if (fs::path made = newestEnvironment(locations.cache); !made.empty())
        return made;
    return Error{ErrorCode::cannotTrace,
                 "no Python environment with torch and transformers is there (looked in " +
                     locations.cache.string() + "): run `workbench setup`",
                 {}};
}

Result<std::vector<std::string>> findWorker(const Locations& locations, std::string_view option) {
    if (!option.empty())
        return splitWords(option);
    const fs::path worker = locations.executables / "workbench-worker";
    if (isExecutable(worker))
        return std::vector<std::string>{worker.string()};
    return Error{ErrorCode::runtimeFailed,
                 "the worker " + worker.string() +
                     " is not there: build it (WORKBENCH_WORKER=ON) or name one with --worker",
                 worker.string()};
}

} // namespace workbench
