#include "app/session/file_stamps.h"

#include <sys/stat.h>

#include <array>

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kKinds = {".json", ".safetensors", ".py",
                                                    ".pt2",  ".model",       ".gguf"};

void stamp(const fs::path& file, FileStamps& stamps) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        return;
    stamps[file] = {static_cast<std::uintmax_t>(status.st_size),
                    static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec,
                    static_cast<std::uint64_t>(status.st_ino)};
}

} // namespace

FileStamps stampsOf(const TracedModel& model) {
    FileStamps stamps;
    if (model.directory.empty()) {
        stamp(model.archive, stamps);
        return stamps;
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(model.directory, error)) {
        const std::string kind = entry.path().extension().string();
        for (const std::string_view known : kKinds)
            if (kind == known)
                stamp(entry.path(), stamps);
    }
    return stamps;
}

std::vector<fs::path> changedFiles(const FileStamps& before, const FileStamps& now) {
    std::vector<fs::path> changed;
    for (const auto& [file, stamp] : now) {
        const auto found = before.find(file);
        if (found == before.end() || !(found->second == stamp))
            changed.push_back(file);
    }
    for (const auto& [file, stamp] : before)
        if (!now.contains(file))
            changed.push_back(file);
    return changed;
}

} // namespace workbench
