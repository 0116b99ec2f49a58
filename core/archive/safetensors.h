#pragma once

#include "core/graph/scalar_type.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// A tensor of a checkpoint: `bytes` bytes at `offset` of file number `file`.
struct SafetensorsEntry {
    std::size_t file = 0;
    ScalarType dtype = ScalarType::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t offset = 0; ///< from the start of the file
    std::uint64_t bytes = 0;
};

/// The tensors of a checkpoint, by name, over one or several files. Headers are validated when it is opened;
/// data is read with pread when it is asked for, so that a file that is cut short later gives an error, not a
/// signal. Reading is thread-safe.
class SafetensorsIndex {
public:
    /// A model directory (model.safetensors, else model.safetensors.index.json with its shards, else all of
    /// its *.safetensors together), an index file, or one .safetensors file.
    static Result<SafetensorsIndex> open(const std::filesystem::path& path);

    const std::map<std::string, SafetensorsEntry, std::less<>>& tensors() const { return m_tensors; }
    const SafetensorsEntry* find(std::string_view name) const;
    const std::vector<std::filesystem::path>& files() const { return m_files; }
    /// The headers' bytes, file by file: they identify the layout of the checkpoint.
    const std::vector<std::string>& headers() const { return m_headers; }

    /// Reads the whole tensor; `into` has exactly entry.bytes bytes.
    Status read(std::string_view name, std::span<std::byte> into) const;
    /// Reads `into.size()` bytes from byte `offset` of the tensor.
    Status readRange(std::string_view name, std::uint64_t offset, std::span<std::byte> into) const;
    /// Tells the system that the tensor will not be read again, if the checkpoint is so large that keeping it
    /// in memory beside what was made of it would push other things out. A small one stays for the next
    /// start.
    void dropPages(std::string_view name) const;

private:
    class File;
    Status addFile(const std::filesystem::path& path);
    Status addShards(const std::filesystem::path& index);

    std::vector<std::filesystem::path> m_files;
    std::vector<std::string> m_headers;
    std::vector<std::shared_ptr<const File>> m_open;
    std::map<std::string, SafetensorsEntry, std::less<>> m_tensors;
};

} // namespace workbench
