#include "app/session/traced_model.h"
#include "core/archive/safetensors.h"
#include "core/support/sha256.h"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kWholeCheckpoint = std::uint64_t{1} << 30; ///< bytes up to which all is read
// Of the tensors of a larger one: the smaller ones whole, of the others pieces from the first byte to the
// last.
constexpr std::uint64_t kWholeBytes = 256 << 10;
constexpr std::uint64_t kPieceBytes = 1 << 10;
constexpr std::uint64_t kEvery = 64 << 10; ///< bytes for one piece

void addText(Sha256& hash, const std::string& text) {
    hash.update(std::to_string(text.size()) + ":" + text);
}

/// Two fine-tunes have equal headers, but not the same numbers.
Status addTensor(const SafetensorsIndex& index, const std::string& name, const SafetensorsEntry& entry,
                 std::uint64_t wholeBytes, Sha256& hash) {
    addText(hash, name);
    addText(hash, std::string(workbench::name(entry.dtype)));
    for (const std::int64_t size : entry.shape)
        addText(hash, std::to_string(size));
    const bool isWhole = entry.bytes <= wholeBytes;
    std::vector<std::byte> piece(isWhole ? entry.bytes : kPieceBytes);
    const std::uint64_t pieces = isWhole ? 1 : entry.bytes / kEvery;
    for (std::uint64_t i = 0; i < pieces; ++i) {
        const std::uint64_t offset = isWhole ? 0 : i * (entry.bytes - kPieceBytes) / (pieces - 1);
        if (auto read = index.readRange(name, offset, piece); !read)
            return read;
        hash.update(std::string_view(reinterpret_cast<const char*>(piece.data()), piece.size()));
    }
    return Ok{};
}

} // namespace

std::string weightsIdentity(const fs::path& directory) {
    const auto index = SafetensorsIndex::open(directory);
    if (!index)
        return {};
    std::uint64_t bytes = 0;
    for (const auto& [name, entry] : index->tensors())
        bytes += entry.bytes;
    Sha256 hash;
    for (const auto& [name, entry] : index->tensors()) // by name: in what files they are does not matter
        if (!addTensor(*index, name, entry, bytes <= kWholeCheckpoint ? bytes : kWholeBytes, hash))
            return {};
    return "sha256:" + hash.finishHex();
}

} // namespace workbench
