#include "app/session/traced_model.h"
#include "core/support/sha256.h"

#include <algorithm>
#include <fstream>

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = 4096;
constexpr std::uint64_t kPieces = 64;

/// Name, size, and pieces from the beginning (the header) to the end: two fine-tunes have equal headers, but
/// not equal weights.
void addFile(const fs::path& file, Sha256& hash) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    hash.update(file.filename().string() + ":" + std::to_string(size) + "\n");
    std::ifstream stream(file, std::ios::binary);
    std::string piece(kPieceBytes, '\0');
    const std::uint64_t step = std::max(kPieceBytes, size / kPieces);
    for (std::uint64_t offset = 0; offset < size; offset += step) {
        stream.clear();
        stream.seekg(static_cast<std::streamoff>(offset));
        stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hash.update(std::string_view(piece.data(), static_cast<std::size_t>(stream.gcount())));
    }
}

} // namespace

std::string weightsIdentity(const fs::path& directory) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error))
        if (entry.path().extension() == ".safetensors")
            files.push_back(entry.path());
    if (files.empty())
        return {};
    std::sort(files.begin(), files.end());
    Sha256 hash;
    for (const fs::path& file : files)
        addFile(file, hash);
    return "sha256:" + hash.finishHex();
}

} // namespace workbench
