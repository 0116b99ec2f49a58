#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct zip;

namespace workbench {

struct ZipMember {
    std::string name;
    std::uint64_t bytes = 0;           ///< uncompressed, as declared
    std::uint64_t compressedBytes = 0; ///< as declared
    bool stored = false;               ///< not compressed: can be read from any offset
};

/// A zip archive from an untrusted source, read member by member; nothing is extracted to disk. Opening
/// refuses names that leave the archive, duplicate names, encryption and declared sizes that only a bomb has.
/// Not thread-safe.
class ZipReader {
public:
    static Result<ZipReader> open(const std::filesystem::path& path);
    ~ZipReader();
    ZipReader(ZipReader&&) noexcept;
    ZipReader& operator=(ZipReader&&) noexcept;

    const std::vector<ZipMember>& members() const { return m_members; }
    const ZipMember* find(std::string_view name) const;
    const std::filesystem::path& path() const { return m_path; }

    /// The whole member; its checksum is verified. Refuses members that declare more than `maxBytes`.
    Result<std::string> read(std::string_view name, std::uint64_t maxBytes) const;
    /// `into.size()` bytes from `offset`. The checksum is verified only when the whole member is read.
    Status readRange(std::string_view name, std::uint64_t offset, std::span<std::byte> into) const;

private:
    ZipReader(std::filesystem::path path, zip* handle);
    Status index(std::uint64_t fileBytes);
    Status addMember(std::uint64_t number);
    Error failure(std::string_view what) const;

    struct Close {
        void operator()(zip* handle) const;
    };
    std::filesystem::path m_path;
    std::unique_ptr<zip, Close> m_handle;
    std::vector<ZipMember> m_members;
    std::unordered_map<std::string, std::size_t> m_byName;
};

} // namespace workbench
