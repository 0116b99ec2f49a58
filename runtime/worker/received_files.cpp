#include "runtime/worker/received_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workbench {
namespace {

Error cannotKeep(const std::string& name) {
    return {ErrorCode::runtimeFailed,
            "The worker cannot keep " + name + ", which it was sent: " + std::strerror(errno) + ".", name};
}

bool writeAll(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR)
            return false;
        bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    return true;
}

} // namespace

ReceivedFiles::~ReceivedFiles() {
    for (const auto& [name, fd] : m_descriptors)
        ::close(fd);
}

Result<std::filesystem::path> ReceivedFiles::keep(const std::string& name, std::span<const std::byte> bytes) {
    auto place = m_descriptors.find(name);
    if (place == m_descriptors.end()) {
        const int fd = ::memfd_create("workbench-received", MFD_CLOEXEC);
        if (fd < 0)
            return cannotKeep(name);
        if (!writeAll(fd, bytes)) {
            const Error error = cannotKeep(name);
            ::close(fd);
            return error;
        }
        place = m_descriptors.emplace(name, fd).first;
    }
    return std::filesystem::path("/proc/self/fd/" + std::to_string(place->second));
}

} // namespace workbench
