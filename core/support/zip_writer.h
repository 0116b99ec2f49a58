#pragma once

#include "core/support/atomic_file.h"
#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

struct ZipEntry {
    std::string name;
    std::uint32_t checksum = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0; ///< of its header
};

/// Writes a zip archive of stored (uncompressed) members, one after another, without holding more than one in
/// memory. Members' data is aligned to 64 bytes, as torch does. Atomic like AtomicFile.
class ZipWriter {
public:
    static Result<ZipWriter> create(const std::filesystem::path& path);

    Status add(std::string_view name, std::string_view bytes);
    /// Writes the directory and puts the file in place.
    Status commit();

private:
    explicit ZipWriter(AtomicFile file) : m_file(std::move(file)) {}
    Status write(std::string_view bytes);

    AtomicFile m_file;
    std::vector<ZipEntry> m_entries;
    std::uint64_t m_position = 0;
};

/// A small archive in memory: (name, bytes) pairs in order.
std::string zipBytes(const std::vector<std::pair<std::string, std::string>>& members);

/// CRC-32 as zip uses it.
std::uint32_t crc32(std::string_view bytes);

} // namespace workbench
