#include "core/archive/safetensors.h"

#include "core/support/read_file.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace workbench {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000; // the limit of the safetensors library itself
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kKeptBytes = 4'000'000'000; // of the page cache, for dropPages()

Error broken(const std::filesystem::path& file, const std::string& reason) {
    return Error{ErrorCode::badInput,
                 "Cannot read the checkpoint file " + file.string() + ": " + reason + ".", file.string()};
}

std::optional<ScalarType> scalarTypeFromSafetensors(std::string_view name) {
    constexpr std::pair<std::string_view, ScalarType> kNames[] = {
        {"F64", ScalarType::f64},   {"F32", ScalarType::f32},        {"F16", ScalarType::f16},
        {"BF16", ScalarType::bf16}, {"F8_E4M3", ScalarType::f8e4m3}, {"F8_E5M2", ScalarType::f8e5m2},
        {"I64", ScalarType::i64},   {"I32", ScalarType::i32},        {"I16", ScalarType::i16},
        {"I8", ScalarType::i8},     {"U8", ScalarType::u8},          {"BOOL", ScalarType::boolean}};
    for (const auto& [known, type] : kNames)
        if (known == name)
            return type;
    return std::nullopt;
}

/// Element count times width; nullopt on overflow or a negative size.
std::optional<std::uint64_t> byteCount(const std::vector<std::int64_t>& shape, ScalarType dtype) {
    std::uint64_t bytes = bytesPerElement(dtype);
    for (std::int64_t size : shape)
        if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
            return std::nullopt;
    return bytes;
}

Status readFully(int fd, const std::filesystem::path& file, std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
        const ssize_t count = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return broken(file, std::strerror(errno));
        if (count == 0)
            return broken(file, "it is cut short (no byte at offset " + std::to_string(offset) + ")");
        offset += static_cast<std::uint64_t>(count);
        into = into.subspan(static_cast<std::size_t>(count));
    }
    return Ok{};
}

/// What a checkpoint is read from: model.safetensors, else an index, as transformers does; else all that a
/// directory holds, as the tracer takes them. Empty for a directory without any.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored))
        return {path};
    for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
        if (std::filesystem::is_regular_file(path / name, ignored))
            return {path / name};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
        if (entry.path().extension() == ".safetensors" && entry.is_regular_file(ignored))
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// One header entry, as far as the header alone tells.
Result<SafetensorsEntry> entryFrom(const std::filesystem::path& file, const std::string& name,
                                   const Json& json) {
    SafetensorsEntry entry;
    const std::string& dtypeName = json.at("dtype").get_ref<const std::string&>();
    const std::optional<ScalarType> dtype = scalarTypeFromSafetensors(dtypeName);
    if (!dtype)
        return broken(file, "the tensor '" + name + "' has the unsupported element type " + dtypeName);
    entry.dtype = *dtype;
    for (const Json& size : json.at("shape").get_ref<const Json::array_t&>())
        entry.shape.push_back(size.get<std::int64_t>());
    const Json& offsets = json.at("data_offsets");
    if (offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
        return broken(file, "the tensor '" + name + "' has no valid data_offsets");
    const auto begin = offsets[0].get<std::uint64_t>();
    const auto end = offsets[1].get<std::uint64_t>();
    if (end < begin)
        return broken(file, "the tensor '" + name + "' ends before it begins");
    entry.offset = begin;
    entry.bytes = end - begin;
    const std::optional<std::uint64_t> expected = byteCount(entry.shape, entry.dtype);
    if (expected != entry.bytes)
        return broken(file, "the tensor '" + name + "' has " + std::to_string(entry.bytes) +
                                " bytes, but its shape and type need " +
                                (expected ? std::to_string(*expected) : std::string("more than there are")));
    return entry;
}

Status checkOverlap(const std::filesystem::path& file,
                    const std::vector<std::pair<std::string, SafetensorsEntry>>& entries) {
    std::vector<const std::pair<std::string, SafetensorsEntry>*> sorted;
    for (const auto& entry : entries)
        if (entry.second.bytes > 0)
            sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->second.offset < b->second.offset; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i - 1]->second.offset + sorted[i - 1]->second.bytes > sorted[i]->second.offset)
            return broken(file, "the tensors '" + sorted[i - 1]->first + "' and '" + sorted[i]->first +
                                    "' overlap");
    return Ok{};
}

/// Offsets in the result count from the start of the file.
Result<std::vector<std::pair<std::string, SafetensorsEntry>>>
entriesFrom(const std::filesystem::path& file, const std::string& header, std::uint64_t fileBytes) {
    const Json json = Json::parse(header, nullptr, false);
    if (!json.is_object())
        return broken(file, "its header is not a JSON object");
    const std::uint64_t dataBegin = kLengthBytes + header.size();
    std::vector<std::pair<std::string, SafetensorsEntry>> entries;
    for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
        if (name == "__metadata__")
            continue;
        Result<SafetensorsEntry> entry = entryFrom(file, name, value);
        if (!entry)
            return entry.error();
        if (entry->offset + entry->bytes > fileBytes - dataBegin)
            return broken(file, "the tensor '" + name + "' reaches past the end of the file (byte " +
                                    std::to_string(dataBegin + entry->offset + entry->bytes) + " of " +
                                    std::to_string(fileBytes) + "); the file is cut short or damaged");
        entry->offset += dataBegin;
        entries.emplace_back(name, std::move(*entry));
    }
    const Status apart = checkOverlap(file, entries);
    if (!apart)
        return apart.error();
    return entries;
}

} // namespace

class SafetensorsIndex::File {
public:
    explicit File(int fd) : m_fd(fd) {}
    ~File() { ::close(m_fd); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return m_fd; }

private:
    int m_fd;
};

Status SafetensorsIndex::addFile(const std::filesystem::path& path) {
    // A pipe without a writer must not block: it is refused below.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return broken(path, std::strerror(errno));
    auto file = std::make_shared<const File>(fd);
    struct stat status = {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return broken(path, "it is not a regular file");
    const auto fileBytes = static_cast<std::uint64_t>(status.st_size);
    unsigned char lengthBytes[kLengthBytes] = {};
    if (fileBytes < kLengthBytes)
        return broken(path, "it has only " + std::to_string(fileBytes) + " bytes");
    Status read = readFully(fd, path, 0, std::as_writable_bytes(std::span(lengthBytes)));
    if (!read)
        return read;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        length |= std::uint64_t{lengthBytes[i]} << (8 * i);
    if (length > kMaxHeaderBytes || length > fileBytes - kLengthBytes)
        return broken(path, "its header says it is " + std::to_string(length) + " bytes long, in a file of " +
                                std::to_string(fileBytes));
    std::string header(length, '\0');
    read = readFully(fd, path, kLengthBytes, std::as_writable_bytes(std::span(header)));
    if (!read)
        return read;
    auto entries = entriesFrom(path, header, fileBytes);
    if (!entries)
        return entries.error();
    for (auto& [name, entry] : *entries) {
        entry.file = m_files.size();
        if (!m_tensors.try_emplace(name, std::move(entry)).second)
            return broken(path, "the tensor '" + name + "' is also in another file of the checkpoint");
    }
    m_files.push_back(path);
    m_headers.push_back(std::move(header));
    m_open.push_back(std::move(file));
    return Ok{};
}

Status SafetensorsIndex::addShards(const std::filesystem::path& index) {
    const Result<std::string> text = readFile(index, kMaxHeaderBytes);
    if (!text)
        return text.error();
    const Json json = Json::parse(*text, nullptr, false);
    const auto map = json.is_object() ? json.find("weight_map") : json.end();
    if (!json.is_object() || map == json.end() || !map->is_object() || map->empty())
        return broken(index, "it is no index of shards (a JSON object with a weight_map)");
    std::map<std::string, std::vector<std::string>> byShard;
    for (const auto& [tensor, shard] : map->items())
        byShard[shard.get<std::string>()].push_back(tensor);
    for (const auto& [shard, tensors] : byShard) {
        if (shard.find('/') != std::string::npos || shard == "." || shard == "..")
            return broken(index, "the shard '" + shard + "' is not a file name");
        std::error_code ignored;
        if (!std::filesystem::exists(index.parent_path() / shard, ignored))
            return broken(index, "the shard " + shard + " is missing");
        const Status added = addFile(index.parent_path() / shard);
        if (!added)
            return added;
        for (const std::string& tensor : tensors)
            if (const SafetensorsEntry* entry = find(tensor); !entry || entry->file != m_files.size() - 1)
                return broken(index.parent_path() / shard,
                              "the index says it holds '" + tensor + "', which it does not");
    }
    return Ok{};
}

Result<SafetensorsIndex> SafetensorsIndex::open(const std::filesystem::path& path) {
    const std::vector<std::filesystem::path> files = filesOf(path);
    if (files.empty())
        return broken(path, "the directory holds neither model.safetensors nor model.safetensors.index.json");
    SafetensorsIndex index;
    for (const std::filesystem::path& file : files)
        try {
            const Status status = file.extension() == ".json" ? index.addShards(file) : index.addFile(file);
            if (!status)
                return status.error();
        } catch (const Json::exception& exception) {
            const std::string_view reason = exception.what();
            return broken(file, "its JSON is malformed (" +
                                    std::string(reason.substr(reason.find("] ") + 2)) + ")");
        }
    return index;
}

const SafetensorsEntry* SafetensorsIndex::find(std::string_view name) const {
    const auto found = m_tensors.find(name);
    return found == m_tensors.end() ? nullptr : &found->second;
}

Status SafetensorsIndex::read(std::string_view name, std::span<std::byte> into) const {
    const SafetensorsEntry* entry = find(name);
    if (entry && into.size() != entry->bytes)
        return broken(m_files[entry->file], "the tensor '" + std::string(name) + "' has " +
                                                std::to_string(entry->bytes) + " bytes, not " +
                                                std::to_string(into.size()));
    return readRange(name, 0, into);
}

Status SafetensorsIndex::readRange(std::string_view name, std::uint64_t offset,
                                   std::span<std::byte> into) const {
    const SafetensorsEntry* entry = find(name);
    if (!entry)
        return Error{ErrorCode::badInput, "The checkpoint has no tensor '" + std::string(name) + "'.",
                     std::string(name)};
    if (offset > entry->bytes || into.size() > entry->bytes - offset)
        return broken(m_files[entry->file], "the tensor '" + std::string(name) + "' ends before byte " +
                                                std::to_string(offset + into.size()));
    return readFully(m_open[entry->file]->fd(), m_files[entry->file], entry->offset + offset, into);
}

void SafetensorsIndex::dropPages(std::string_view name) const {
    const SafetensorsEntry* entry = find(name);
    std::uint64_t bytes = 0;
    for (const auto& [other, it] : m_tensors)
        bytes += it.bytes;
    if (entry && bytes > kKeptBytes)
        ::posix_fadvise(m_open[entry->file]->fd(), static_cast<off_t>(entry->offset),
                        static_cast<off_t>(entry->bytes), POSIX_FADV_DONTNEED);
}

} // namespace workbench
