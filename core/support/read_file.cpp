#include "core/support/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workbench {
namespace {

Error cannotRead(const std::filesystem::path& path, const std::string& reason) {
    return Error{ErrorCode::badInput, "Cannot read " + path.string() + ": " + reason + ".", path.string()};
}

Result<std::string> readAll(int fd, const std::filesystem::path& path, std::uint64_t maxBytes) {
    std::string bytes;
    constexpr std::size_t kChunk = 1 << 20;
    while (bytes.size() <= maxBytes) {
        const std::size_t before = bytes.size();
        bytes.resize(before + kChunk);
        const ssize_t count = ::read(fd, bytes.data() + before, kChunk);
        bytes.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
        if (count < 0 && errno != EINTR)
            return cannotRead(path, std::strerror(errno));
        if (count == 0)
            return bytes;
    }
    return cannotRead(path, "it is larger than " + std::to_string(maxBytes) + " bytes");
}

} // namespace

Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t maxBytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannotRead(path, std::strerror(errno));
    struct stat status = {};
    Result<std::string> bytes =
        ::fstat(fd, &status) != 0 ? Result<std::string>(cannotRead(path, std::strerror(errno)))
        : S_ISDIR(status.st_mode) ? Result<std::string>(cannotRead(path, "it is a directory"))
                                  : readAll(fd, path, maxBytes);
    ::close(fd);
    return bytes;
}

} // namespace workbench
