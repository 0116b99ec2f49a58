#include "core/support/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace workbench {
namespace {

Error cannotWrite(const std::filesystem::path& path, int error) {
    return Error{ErrorCode::badInput, "Cannot write " + path.string() + ": " + std::strerror(error) + ".",
                 path.string()};
}

/// Makes a rename survive a power cut. Some file systems cannot sync folders; the data itself is safe by
/// then.
void syncFolder(const std::filesystem::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    ::fsync(fd);
    ::close(fd);
}

mode_t permissionsFor(const std::filesystem::path& target) {
    struct stat old = {};
    if (::stat(target.c_str(), &old) == 0)
        return old.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

} // namespace

AtomicFile::AtomicFile(std::filesystem::path target, std::filesystem::path temporary, int fd)
    : m_target(std::move(target)), m_temporary(std::move(temporary)), m_fd(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_target(std::move(other.m_target)), m_temporary(std::move(other.m_temporary)), m_fd(other.m_fd) {
    other.m_fd = -1;
    other.m_temporary.clear();
}

AtomicFile::~AtomicFile() {
    if (m_fd < 0)
        return;
    ::close(m_fd);
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

Error AtomicFile::failure(int error) const {
    return cannotWrite(m_target, error);
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target) {
    std::error_code ignored;
    std::filesystem::path real = std::filesystem::is_symlink(target, ignored)
                                     ? std::filesystem::weakly_canonical(target, ignored)
                                     : target;
    if (real.empty() || std::filesystem::is_directory(real, ignored))
        return cannotWrite(target, real.empty() ? ENOENT : EISDIR);
    // A device or pipe (/dev/stdout) must not be replaced by renaming: it is written as it is.
    if (std::filesystem::exists(target, ignored) && !std::filesystem::is_regular_file(target, ignored))
        return openInPlace(target);
    // The folder may permit a replacement that the file's own permissions do not: respect the file.
    if (std::filesystem::exists(real, ignored) && ::access(real.c_str(), W_OK) != 0)
        return cannotWrite(target, errno);
    std::string pattern = real.string() + ".XXXXXX";
    const int fd = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (fd < 0)
        return cannotWrite(target, errno);
    AtomicFile file(std::move(real), pattern, fd);
    if (::fchmod(fd, permissionsFor(file.m_target)) != 0)
        return file.failure(errno);
    return file;
}

Result<AtomicFile> AtomicFile::openInPlace(const std::filesystem::path& target) {
    const int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cannotWrite(target, errno);
    return AtomicFile(target, {}, fd);
}

Status AtomicFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return failure(written < 0 ? errno : EIO);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return Ok{};
}

Status AtomicFile::commit() {
    if (m_temporary.empty()) {
        const int fd = std::exchange(m_fd, -1);
        return ::close(fd) == 0 || errno == EINTR ? Status(Ok{}) : Status(failure(errno));
    }
    if (::fsync(m_fd) != 0)
        return failure(errno);
    if (::rename(m_temporary.c_str(), m_target.c_str()) != 0)
        return failure(errno);
    const int fd = std::exchange(m_fd, -1);
    if (::close(fd) != 0 && errno != EINTR)
        return failure(errno);
    const std::filesystem::path folder = m_target.parent_path();
    syncFolder(folder.empty() ? "." : folder);
    return Ok{};
}

Status writeFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file)
        return file.error();
    const Status written = file->write(bytes);
    if (!written)
        return written;
    return file->commit();
}

} // namespace workbench
