#include "app/session/locations.h"

#include "core/support/words.h"

#include <unistd.h>

#include <cstdlib>

namespace workbench {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

fs::path cacheRoot() {
    // A relative XDG path is invalid by its specification.
    const fs::path xdg = environment("XDG_CACHE_HOME");
    if (xdg.is_absolute())
        return xdg / "fusion-workbench";
    const std::string home = environment("HOME");
    return (home.empty() ? fs::temp_directory_path() : fs::path(home) / ".cache") / "fusion-workbench";
}

bool isExecutable(const fs::path& file) {
    return ::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file);
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
            isExecutable(python)) {
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
