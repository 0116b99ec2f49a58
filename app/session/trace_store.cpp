#include "app/session/trace_store.h"

#include "app/session/file_lock.h"
#include "core/support/utf8.h"

#include <unistd.h>

namespace workbench {
namespace {

namespace fs = std::filesystem;

bool isWhole(const fs::path& trace) {
    std::error_code error;
    return fs::is_regular_file(trace / "trace.json", error) &&
           fs::is_regular_file(trace / "trace.pt2", error);
}

Error unwritable(const fs::path& path, const std::string& why) {
    return {ErrorCode::badInput, "the trace cache " + path.string() + " cannot be written: " + why,
            path.string()};
}

/// A folder of this process's own, removed with whatever a killed tracer left in it.
class WorkFolder {
public:
    explicit WorkFolder(fs::path path) : m_path(std::move(path)) {}
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

/// What processes that were killed left behind. The lock is held: nobody works on this key.
void removeStaleWork(const fs::path& root, const std::string& key) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root, ignored))
        if (entry.path().filename().string().starts_with("." + key + "."))
            fs::remove_all(entry.path(), ignored);
}

} // namespace

Result<fs::path> TraceStore::get(const Tracer& tracer, const fs::path& model, const TraceOptions& options,
                                 const Job& job) const {
    auto key = tracer.cacheKey(model, options, job);
    if (!key)
        return key.error();
    const fs::path trace = m_root / *key;
    if (isWhole(trace))
        return trace;
    if (!isUtf8(m_root.string()))
        return unwritable(m_root,
                          "its name is not UTF-8, which the helper programs need: set XDG_CACHE_HOME");
    std::error_code error;
    fs::create_directories(m_root, error);
    if (error)
        return unwritable(m_root, error.message());
    auto lock = FileLock::take(m_root / (*key + ".lock"), "another workbench traces this model", job);
    if (!lock)
        return lock.error();
    if (isWhole(trace))
        return trace;

    removeStaleWork(m_root, *key);
    const WorkFolder work(m_root / ("." + *key + "." + std::to_string(::getpid())));
    fs::remove_all(trace, error);
    fs::create_directories(work.path(), error);
    if (error)
        return unwritable(work.path(), error.message());
    if (auto traced = tracer.trace(model, work.path() / "trace", options, job); !traced)
        return traced.error();
    fs::rename(work.path() / "trace", trace, error);
    if (error)
        return unwritable(trace, error.message());
    return trace;
}

void TraceStore::forget(const fs::path& trace) const {
    std::error_code ignored;
    if (trace.parent_path() == m_root)
        fs::remove_all(trace, ignored);
}

} // namespace workbench
