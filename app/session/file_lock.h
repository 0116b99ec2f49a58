#pragma once

#include "app/session/job.h"

#include <filesystem>
#include <string_view>
#include <utility>

namespace workbench {

/// An advisory lock on a file among processes, held as long as the object lives; the kernel drops it when the
/// process dies.
class FileLock {
public:
    /// Waits for it with an eye on the cancel; `why` is reported when it has to. badInput: the file cannot be
    /// made.
    static Result<FileLock> take(const std::filesystem::path& file, std::string_view why, const Job& job);
    FileLock(FileLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

private:
    explicit FileLock(int fd) : m_fd(fd) {}
    int m_fd;
};

} // namespace workbench
