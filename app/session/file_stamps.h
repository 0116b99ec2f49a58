#pragma once

#include "app/session/traced_model.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace workbench {

/// How a file looks from outside; another one means that it was written or replaced.
struct FileStamp {
    std::uintmax_t bytes = 0;
    std::int64_t modified = 0; ///< nanoseconds of the file clock
    std::uint64_t inode = 0;
    bool operator==(const FileStamp&) const = default;
};
using FileStamps = std::map<std::filesystem::path, FileStamp>; ///< files that are not there are absent

/// Of the files that a trace depends on: the archive, or config, weights and code in the model's directory.
FileStamps stampsOf(const TracedModel& model);
/// Their names: new, gone or changed ones.
std::vector<std::filesystem::path> changedFiles(const FileStamps& before, const FileStamps& now);

} // namespace workbench
