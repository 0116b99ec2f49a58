#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace workbench {

/// A file that appears under its name only when it is complete: it is written beside its target under a
/// temporary name, synced, then renamed. Without commit(), nothing stays behind. Whatever fails, an older
/// file of that name stays whole. A symbolic link is followed; devices and pipes are written in place.
class AtomicFile {
public:
    static Result<AtomicFile> create(const std::filesystem::path& target);
    ~AtomicFile();
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    AtomicFile& operator=(AtomicFile&&) = delete;

    Status write(std::string_view bytes);
    Status commit();


private:
    AtomicFile(std::filesystem::path target, std::filesystem::path temporary, int fd);
    static Result<AtomicFile> openInPlace(const std::filesystem::path& target);
    Error failure(int error) const;

    std::filesystem::path m_target;
    std::filesystem::path m_temporary; ///< empty: written in place
    int m_fd = -1;
};

/// Keeps the permissions of a file that it replaces; a new one is readable as the umask says.
Status writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);

} // namespace workbench
