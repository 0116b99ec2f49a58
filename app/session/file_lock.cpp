#include "app/session/file_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workbench {
namespace {

Error unwritable(const std::filesystem::path& file) {
    return {ErrorCode::badInput, "the cache " + file.string() + " cannot be written: " + std::strerror(errno),
            file.string()};
}

} // namespace

FileLock::~FileLock() {
    if (m_fd >= 0)
        ::close(m_fd);
}

Result<FileLock> FileLock::take(const std::filesystem::path& file, std::string_view why, const Job& job) {
    FileLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (lock.m_fd < 0)
        return unwritable(file);
    bool told = false;
    while (::flock(lock.m_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return unwritable(file);
        if (!std::exchange(told, true))
            job.report("wait", why);
        pollfd entry{job.cancel ? job.cancel->fd() : -1, POLLIN, 0};
        ::poll(&entry, 1, 100);
        if (job.cancelled())
            return cancelledError();
    }
    return lock;
}

} // namespace workbench
