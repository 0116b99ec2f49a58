#include "app/session/trace_store.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

/// An advisory lock on a file, waited for with an eye on the cancel. The kernel drops it when the process
/// dies.
class FileLock {
public:
    FileLock() = default;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock() {
        if (m_fd >= 0)
            ::close(m_fd);
    }

    Status take(const fs::path& file, const Job& job) {
        m_fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (m_fd < 0)
            return unwritable(file, std::strerror(errno));
        bool told = false;
        while (::flock(m_fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK && errno != EINTR)
                return unwritable(file, std::strerror(errno));
            if (!std::exchange(told, true))
                job.report("wait", "another workbench traces this model");
            pollfd entry{job.cancel ? job.cancel->fd() : -1, POLLIN, 0};
            ::poll(&entry, 1, 100);
            if (job.cancelled())
                return cancelledError();
        }
        return Ok{};
    }

private:
    int m_fd = -1;
};

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
    std::error_code error;
    fs::create_directories(m_root, error);
    if (error)
        return unwritable(m_root, error.message());
    FileLock lock;
    if (auto taken = lock.take(m_root / (*key + ".lock"), job); !taken)
        return taken.error();
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
