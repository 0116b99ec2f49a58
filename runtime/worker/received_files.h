#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace workbench {

/// Files that the session sent, because this machine may not have them. They live in memory and go with the
/// process, however it ends.
class ReceivedFiles {
public:
    ReceivedFiles() = default;
    ~ReceivedFiles();
    ReceivedFiles(const ReceivedFiles&) = delete;
    ReceivedFiles& operator=(const ReceivedFiles&) = delete;

    /// The path under which this process can open the file. A name stands for its content: it is kept once.
    Result<std::filesystem::path> keep(const std::string& name, std::span<const std::byte> bytes);

private:
    std::map<std::string, int, std::less<>> m_descriptors;
};

} // namespace workbench
