#include "core/support/zip_writer.h"

#include <array>
#include <cstring>

namespace workbench {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kNoCount32 = 0xffffffff; // "see the zip64 field"
constexpr std::uint16_t kVersion = 45;           // zip64
constexpr std::uint16_t kDate1980 = 0x21;        // a fixed date: equal archives are equal files
constexpr std::uint16_t kPaddingField = 0x4246;  // "FB", the field that torch pads with
constexpr std::uint16_t kZip64Field = 1;

/// Little-endian fields, appended.
class Record {
public:
    Record& u16(std::uint64_t value) { return number(value, 2); }
    Record& u32(std::uint64_t value) { return number(value, 4); }
    Record& u64(std::uint64_t value) { return number(value, 8); }
    Record& text(std::string_view value) {
        m_bytes += value;
        return *this;
    }
    const std::string& bytes() const { return m_bytes; }

private:
    Record& number(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i)
            m_bytes += static_cast<char>(value >> (8 * i));
        return *this;
    }
    std::string m_bytes;
};

/// Slicing by 8: table[k][b] is the checksum of byte b followed by k zeros.
constexpr auto makeTables() {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? 0xedb88320U ^ (value >> 1) : value >> 1;
        tables[0][i] = value;
    }
    for (std::uint32_t i = 0; i < 256; ++i)
        for (std::size_t k = 1; k < 8; ++k)
            tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
    return tables;
}
constexpr auto kTables = makeTables();

/// The entry's header with padding, up to its data.
std::string entryHeader(const ZipEntry& entry) {
    constexpr std::uint64_t kFixed = 30;
    constexpr std::uint64_t kZip64Bytes = 4 + 16;
    constexpr std::uint64_t kPaddingHead = 4;
    const std::uint64_t dataAt = entry.offset + kFixed + entry.name.size() + kZip64Bytes + kPaddingHead;
    const std::uint64_t padding = (kAlignment - dataAt % kAlignment) % kAlignment;
    Record header;
    header.u32(0x04034b50).u16(kVersion).u16(0).u16(0).u16(0).u16(kDate1980);
    header.u32(entry.checksum).u32(kNoCount32).u32(kNoCount32);
    header.u16(entry.name.size()).u16(kZip64Bytes + kPaddingHead + padding).text(entry.name);
    header.u16(kZip64Field).u16(16).u64(entry.bytes).u64(entry.bytes);
    header.u16(kPaddingField).u16(padding).text(std::string(padding, '\0'));
    return header.bytes();
}

/// What ends an archive whose members take the first `begin` bytes.
std::string directory(const std::vector<ZipEntry>& entries, std::uint64_t begin) {
    Record record;
    for (const ZipEntry& entry : entries) {
        record.u32(0x02014b50).u16(kVersion).u16(kVersion).u16(0).u16(0).u16(0).u16(kDate1980);
        record.u32(entry.checksum).u32(kNoCount32).u32(kNoCount32).u16(entry.name.size());
        record.u16(4 + 24).u16(0).u16(0).u16(0).u32(0).u32(kNoCount32);
        record.text(entry.name).u16(kZip64Field).u16(24).u64(entry.bytes).u64(entry.bytes).u64(entry.offset);
    }
    const std::uint64_t size = record.bytes().size();
    const std::uint64_t count = entries.size();
    record.u32(0x06064b50).u64(44).u16(kVersion).u16(kVersion).u32(0).u32(0);
    record.u64(count).u64(count).u64(size).u64(begin);
    record.u32(0x07064b50).u32(0).u64(begin + size).u32(1);
    record.u32(0x06054b50).u16(0).u16(0).u16(0xffff).u16(0xffff).u32(kNoCount32).u32(kNoCount32).u16(0);
    return record.bytes();
}

} // namespace

std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t sum = 0xffffffff;
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, data += 8) {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        std::memcpy(&low, data, 4);
        std::memcpy(&high, data + 4, 4);
        low ^= sum;
        sum = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
              kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
              kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
    }
    for (; left > 0; --left, ++data)
        sum = kTables[0][(sum ^ *data) & 0xff] ^ (sum >> 8);
    return ~sum;
}

Result<ZipWriter> ZipWriter::create(const std::filesystem::path& path) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file)
        return file.error();
    return ZipWriter(std::move(*file));
}

Status ZipWriter::write(std::string_view bytes) {
    m_position += bytes.size();
    return m_file.write(bytes);
}

Status ZipWriter::add(std::string_view name, std::string_view bytes) {
    m_entries.push_back({std::string(name), crc32(bytes), bytes.size(), m_position});
    const Status written = write(entryHeader(m_entries.back()));
    return written ? write(bytes) : written;
}

Status ZipWriter::commit() {
    const Status written = write(directory(m_entries, m_position));
    return written ? m_file.commit() : written;
}

std::string zipBytes(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string archive;
    std::vector<ZipEntry> entries;
    for (const auto& [name, bytes] : members) {
        entries.push_back({name, crc32(bytes), bytes.size(), archive.size()});
        archive += entryHeader(entries.back());
        archive += bytes;
    }
    return archive + directory(entries, archive.size());
}

} // namespace workbench
