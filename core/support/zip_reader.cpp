#include "core/support/zip_reader.h"

#include <zip.h>

#include <algorithm>

namespace workbench {
namespace {

constexpr std::int64_t kMaxMembers = 200000;
/// DEFLATE cannot exceed 1032:1; what people store compresses by far less.
constexpr std::uint64_t kMaxRatio = 200;
constexpr std::uint64_t kAlwaysAllowedBytes = 1 << 20;

/// Why a member's name is refused; empty when it is fine.
std::string_view nameFault(std::string_view name) {
    if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
        name.find(':') != std::string_view::npos)
        return "is not a relative path";
    if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
        return "holds control characters";
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        if (name.substr(begin, end - begin) == "..")
            return "leaves the archive";
        begin = end + 1;
    }
    return {};
}

std::string printable(std::string_view name) {
    std::string text(name.substr(0, 120));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return text;
}

struct CloseMember {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenMember = std::unique_ptr<zip_file_t, CloseMember>;

} // namespace

void ZipReader::Close::operator()(zip* handle) const {
    zip_discard(handle);
}

ZipReader::ZipReader(std::filesystem::path path, zip* handle) : m_path(std::move(path)), m_handle(handle) {}
ZipReader::~ZipReader() = default;
ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader& ZipReader::operator=(ZipReader&&) noexcept = default;

Error ZipReader::failure(std::string_view what) const {
    return Error{ErrorCode::badInput,
                 "Cannot read the archive " + m_path.string() + ": " + std::string(what) + ".",
                 m_path.string()};
}

Result<ZipReader> ZipReader::open(const std::filesystem::path& path) {
    int code = 0;
    zip* handle = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
    if (!handle) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const bool isDamaged = code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS;
        const std::string reason = isDamaged               ? "it is not a whole zip archive"
                                   : code == ZIP_ER_EXISTS ? "two of its members have the same name"
                                                           : zip_error_strerror(&error);
        zip_error_fini(&error);
        return Error{ErrorCode::badInput, "Cannot read the archive " + path.string() + ": " + reason + ".",
                     path.string()};
    }
    ZipReader reader(path, handle);
    std::error_code status;
    const std::uint64_t fileBytes = std::filesystem::file_size(path, status);
    if (status)
        return reader.failure(status.message());
    const Status indexed = reader.index(fileBytes);
    if (!indexed)
        return indexed.error();
    return reader;
}

Status ZipReader::index(std::uint64_t fileBytes) {
    const zip_int64_t count = zip_get_num_entries(m_handle.get(), 0);
    if (count > kMaxMembers)
        return failure("it declares " + std::to_string(count) + " members");
    for (zip_int64_t i = 0; i < count; ++i) {
        const Status added = addMember(static_cast<std::uint64_t>(i));
        if (!added)
            return added;
    }
    std::uint64_t total = 0;
    for (const ZipMember& member : m_members)
        if (__builtin_add_overflow(total, member.compressedBytes, &total) || total > fileBytes)
            return failure("its members overlap (together they declare more bytes than the file has)");
    return Ok{};
}

Status ZipReader::addMember(std::uint64_t number) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(m_handle.get(), number, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded)
        return failure("member " + std::to_string(number) + " has no complete header");
    const std::string shown = "member '" + printable(stat.name) + "'";
    const std::string_view fault = nameFault(stat.name);
    if (!fault.empty())
        return failure(shown + " is refused: its name " + std::string(fault));
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
        return failure(shown + " is encrypted");
    const bool stored = stat.comp_method == ZIP_CM_STORE;
    if (!stored && stat.comp_method != ZIP_CM_DEFLATE)
        return failure(shown + " is compressed by an unknown method");
    if (stored ? stat.size != stat.comp_size
               : stat.size > kAlwaysAllowedBytes && stat.size / kMaxRatio > stat.comp_size)
        return failure(shown + " declares " + std::to_string(stat.size) + " bytes from " +
                       std::to_string(stat.comp_size) +
                       " compressed ones, as only a decompression bomb does");
    if (!m_byName.try_emplace(stat.name, m_members.size()).second)
        return failure(shown + " occurs twice");
    m_members.push_back({stat.name, stat.size, stat.comp_size, stored});
    return Ok{};
}

const ZipMember* ZipReader::find(std::string_view name) const {
    const auto found = m_byName.find(std::string(name));
    return found == m_byName.end() ? nullptr : &m_members[found->second];
}

Result<std::string> ZipReader::read(std::string_view name, std::uint64_t maxBytes) const {
    const ZipMember* member = find(name);
    if (!member)
        return failure("member '" + printable(name) + "' is missing");
    if (member->bytes > maxBytes)
        return failure("member '" + printable(name) + "' declares " + std::to_string(member->bytes) +
                       " bytes, more than the " + std::to_string(maxBytes) + " that are allowed");
    std::string bytes(member->bytes, '\0');
    const Status status = readRange(name, 0, std::as_writable_bytes(std::span(bytes)));
    if (!status)
        return status.error();
    return bytes;
}

Status ZipReader::readRange(std::string_view name, std::uint64_t offset, std::span<std::byte> into) const {
    const ZipMember* member = find(name);
    if (!member)
        return failure("member '" + printable(name) + "' is missing");
    if (offset > member->bytes || into.size() > member->bytes - offset)
        return failure("member '" + printable(name) + "' ends before byte " +
                       std::to_string(offset + into.size()));
    const OpenMember file(
        zip_fopen_index(m_handle.get(), static_cast<zip_uint64_t>(member - m_members.data()), 0));
    if (!file)
        return failure("member '" + printable(name) + "': " + zip_strerror(m_handle.get()));
    if (offset != 0 &&
        (!member->stored || zip_fseek(file.get(), static_cast<zip_int64_t>(offset), SEEK_SET) != 0))
        return failure("member '" + printable(name) + "' cannot be read from the middle");
    while (!into.empty()) {
        const zip_int64_t count = zip_fread(file.get(), into.data(), into.size());
        if (count <= 0)
            return failure("member '" + printable(name) + "' is damaged");
        into = into.subspan(static_cast<std::size_t>(count));
    }
    // The checksum is compared when the end is read.
    std::byte rest{};
    if (offset == 0 && zip_fread(file.get(), &rest, 1) < 0)
        return failure("member '" + printable(name) + "' is damaged");
    return Ok{};
}

} // namespace workbench
