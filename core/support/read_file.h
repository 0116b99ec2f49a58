#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace workbench {

/// The whole file. Refuses directories and files over `maxBytes`; the error names the file.
Result<std::string> readFile(const std::filesystem::path& path,
                             std::uint64_t maxBytes = std::uint64_t{1} << 30);

} // namespace workbench
