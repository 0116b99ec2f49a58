#include "core/archive/pt2_reader.h"

#include "core/archive/pt2_graph.h"
#include "core/archive/pt2_schema.h"

#include <algorithm>
#include <cstring>

namespace workbench {
namespace {

using pt2::Json;

constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{512} << 20;
constexpr std::size_t kMaxDimensions = 64;

Error unusable(const std::filesystem::path& path, const std::string& reason, std::string where = {}) {
    return Error{ErrorCode::badInput, "Cannot use the archive " + path.string() + ": " + reason + ".",
                 where.empty() ? path.string() : std::move(where)};
}

/// nlohmann's text without its "[json.exception...] " head.
std::string reasonOf(const Json::exception& exception) {
    const std::string_view text = exception.what();
    const std::size_t head = text.find("] ");
    return std::string(head == std::string_view::npos ? text : text.substr(head + 2)).substr(0, 300);
}

/// Files of an archive lie under one folder of any name ("model/models/model.json"); older torch writes them
/// at the top.
struct Members {
    std::string program; ///< "…/models/NAME.json"
    std::string root;    ///< "…/", or empty
    std::string model;   ///< NAME
};

Result<Members> findMembers(const ZipReader& zip) {
    std::vector<Members> found;
    constexpr std::string_view kFolder = "models/";
    constexpr std::string_view kSuffix = ".json";
    for (const ZipMember& member : zip.members()) {
        const std::string_view name = member.name;
        const std::size_t slash = name.rfind('/');
        if (slash == std::string_view::npos || name.size() < kSuffix.size() ||
            name.substr(name.size() - kSuffix.size()) != kSuffix)
            continue;
        const std::string_view folder = name.substr(0, slash + 1);
        const bool isModels =
            folder == kFolder || (folder.size() > kFolder.size() &&
                                  folder.substr(folder.size() - kFolder.size() - 1) == "/models/");
        if (isModels)
            found.push_back({member.name, std::string(folder.substr(0, folder.size() - kFolder.size())),
                             std::string(name.substr(slash + 1, name.size() - kSuffix.size() - slash - 1))});
    }
    if (found.empty() && zip.find("serialized_exported_program.json"))
        return unusable(
            zip.path(),
            "it was written by a torch older than 2.7, whose weights are pickled; export the model again");
    if (found.empty())
        return unusable(zip.path(), "it holds no program (no member models/*.json)");
    if (found.size() > 1)
        return unusable(zip.path(), "it holds several programs ('" + found[0].model + "', '" +
                                        found[1].model + "'); save one program per archive");
    return found.front();
}

Result<Json> readJson(const ZipReader& zip, const std::string& member) {
    const Result<std::string> text = zip.read(member, kMaxJsonBytes);
    if (!text)
        return text.error();
    Json json = Json::parse(*text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return unusable(zip.path(), "member '" + member + "' is not a JSON object");
    return json;
}

Status checkSchema(const Json& program, const ZipReader& zip, Pt2Archive& archive) {
    archive.schemaMajor = program.at("schema_version").at("major").get<std::int64_t>();
    archive.schemaMinor = program.at("schema_version").at("minor").get<std::int64_t>();
    archive.torchVersion = program.value("torch_version", "");
    const std::string version =
        std::to_string(archive.schemaMajor) + "." + std::to_string(archive.schemaMinor);
    if (archive.schemaMajor > pt2::kSchemaMajor)
        return unusable(zip.path(), "its schema version " + version + " is newer than " +
                                        std::to_string(pt2::kSchemaMajor) +
                                        ", the newest that is known; update the workbench");
    if (archive.schemaMajor < pt2::kSchemaMajor)
        return unusable(zip.path(), "its schema version " + version + " is older than " +
                                        std::to_string(pt2::kSchemaMajor) +
                                        "; export the model again with a newer torch");
    return Ok{};
}

std::string envelopeOf(const Json& program) {
    Json envelope = Json::object();
    for (const char* key : {"opset_version", "range_constraints", "verifiers", "torch_version", "guards_code",
                            "schema_version"})
        if (program.contains(key))
            envelope[key] = program[key];
    const Json& module = program.at("graph_module");
    if (const Json& calls = module.at("module_call_graph"); !calls.empty())
        envelope["call"] = calls[0];
    for (const Json& spec : module.at("signature").at("input_specs"))
        if (const auto buffer = spec.find("buffer");
            buffer != spec.end() && buffer->value("persistent", false))
            envelope["persistent_buffers"].push_back(buffer->at("buffer_name"));
    return envelope.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A size or stride of stored data: always a number.
std::int64_t storedSize(const Json& size) {
    return size.at("as_int").get<std::int64_t>();
}

/// Why the tensor cannot lie in its member; empty when it does.
std::string extentFault(const StoredTensor& tensor, std::uint64_t memberBytes) {
    if (tensor.sizes.size() != tensor.strides.size() || tensor.sizes.size() > kMaxDimensions)
        return "its sizes and strides disagree";
    if (tensor.offset < 0)
        return "its offset is negative";
    std::int64_t last = tensor.offset;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
        std::int64_t reach = 0;
        if (tensor.sizes[i] < 0 || tensor.strides[i] < 0)
            return "it has a negative size or stride";
        if (tensor.sizes[i] == 0)
            return {};
        if (__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) ||
            __builtin_mul_overflow(elements, tensor.sizes[i], &elements))
            return "it is impossibly large";
    }
    const std::uint64_t available = memberBytes / bytesPerElement(tensor.dtype);
    if (static_cast<std::uint64_t>(last) >= available)
        return "it reaches past the end of its member '" + tensor.member + "'";
    // A stride of 0 makes many elements of few bytes; a bomb by other means.
    if (static_cast<std::uint64_t>(elements) / 1024 > available)
        return "it declares " + std::to_string(elements) + " elements of " + std::to_string(available) +
               " stored ones";
    return {};
}

Status addTensor(const ZipReader& zip, const std::string& name, const Json& payload,
                 const std::string& folder, Pt2Archive& archive) {
    StoredTensor tensor;
    tensor.member = folder + payload.at("path_name").get<std::string>();
    tensor.pickled = payload.at("use_pickle").get<bool>();
    const Json& meta = payload.at("tensor_meta");
    if (meta.is_null() || tensor.pickled) {
        tensor.pickled = true;
        archive.tensors.insert_or_assign(name, std::move(tensor));
        return Ok{};
    }
    const auto code = meta.at("dtype").get<std::int64_t>();
    const std::optional<ScalarType> dtype = pt2::scalarType(code);
    if (!dtype)
        return unusable(
            zip.path(),
            "the tensor '" + name + "' has the unsupported element type " + pt2::scalarTypeText(code), name);
    tensor.dtype = *dtype;
    for (const Json& size : meta.at("sizes"))
        tensor.sizes.push_back(storedSize(size));
    for (const Json& stride : meta.at("strides"))
        tensor.strides.push_back(storedSize(stride));
    tensor.offset = storedSize(meta.at("storage_offset"));
    const ZipMember* member = zip.find(tensor.member);
    if (!member)
        return unusable(zip.path(),
                        "the data of the tensor '" + name + "' is missing (member '" + tensor.member + "')",
                        name);
    const std::string fault = extentFault(tensor, member->bytes);
    if (!fault.empty())
        return unusable(zip.path(), "the tensor '" + name + "' cannot be read: " + fault, name);
    archive.tensors.insert_or_assign(name, std::move(tensor));
    return Ok{};
}

Status addTensors(const ZipReader& zip, const std::string& folder, const std::string& indexName,
                  Pt2Archive& archive) {
    if (!zip.find(folder + indexName))
        return Ok{};
    const Result<Json> index = readJson(zip, folder + indexName);
    if (!index)
        return index.error();
    for (const auto& [name, payload] : index->at("config").get_ref<const Json::object_t&>()) {
        const Status added = addTensor(zip, name, payload, folder, archive);
        if (!added)
            return added;
    }
    return Ok{};
}

Result<Pt2Archive> readArchive(std::shared_ptr<const ZipReader> zip) {
    const Result<Members> members = findMembers(*zip);
    if (!members)
        return members.error();
    const Result<Json> program = readJson(*zip, members->program);
    if (!program)
        return program.error();
    Pt2Archive archive;
    const Status schema = checkSchema(*program, *zip, archive);
    if (!schema)
        return schema.error();
    Result<Graph> graph = pt2::buildGraph(*program);
    if (!graph)
        return unusable(zip->path(), graph.error().message, graph.error().where);
    archive.graph = std::move(*graph);
    archive.envelope = envelopeOf(*program);
    const std::string data = members->root + "data/";
    for (const auto& [folder, index] :
         {std::pair<std::string, std::string>{"weights/", "_weights_config.json"},
          {"constants/", "_constants_config.json"}}) {
        const Status added = addTensors(*zip, data + folder, members->model + index, archive);
        if (!added)
            return added.error();
    }
    archive.zip = std::move(zip);
    return archive;
}

bool isContiguous(const StoredTensor& tensor) {
    std::int64_t expected = 1;
    for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
        if (tensor.sizes[i] != 1 && tensor.strides[i] != expected)
            return false;
        expected *= tensor.sizes[i];
    }
    return true;
}

/// Copies a strided tensor out of its storage in row-major order.
std::string gather(const StoredTensor& tensor, const std::string& storage, std::size_t elements) {
    const std::size_t width = bytesPerElement(tensor.dtype);
    std::string bytes(elements * width, '\0');
    std::vector<std::int64_t> index(tensor.sizes.size(), 0);
    std::int64_t from = 0;
    for (std::size_t i = 0; i < elements; ++i) {
        std::memcpy(bytes.data() + i * width, storage.data() + static_cast<std::size_t>(from) * width, width);
        for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
            from += tensor.strides[d];
            if (++index[d] < tensor.sizes[d])
                break;
            from -= tensor.strides[d] * tensor.sizes[d];
            index[d] = 0;
        }
    }
    return bytes;
}

} // namespace

Result<std::string> Pt2Archive::readTensor(std::string_view name) const {
    const auto found = tensors.find(name);
    if (found == tensors.end())
        return unusable(zip->path(), "it has no data for the tensor '" + std::string(name) + "'",
                        std::string(name));
    const StoredTensor& tensor = found->second;
    if (tensor.pickled)
        return unusable(zip->path(),
                        "the tensor '" + std::string(name) + "' is pickled, and pickles are never read",
                        std::string(name));
    const std::size_t width = bytesPerElement(tensor.dtype);
    std::size_t elements = 1;
    for (std::int64_t size : tensor.sizes)
        elements *= static_cast<std::size_t>(size);
    if (elements == 0)
        return std::string();
    std::int64_t extent = 1;
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
        extent += (tensor.sizes[i] - 1) * tensor.strides[i];
    std::string storage(static_cast<std::size_t>(extent) * width, '\0');
    const Status read = zip->readRange(tensor.member, static_cast<std::uint64_t>(tensor.offset) * width,
                                       std::as_writable_bytes(std::span(storage)));
    if (!read)
        return read.error();
    return isContiguous(tensor) ? std::move(storage) : gather(tensor, storage, elements);
}

Result<Pt2Archive> readPt2(const std::filesystem::path& path) {
    Result<ZipReader> zip = ZipReader::open(path);
    if (!zip)
        return zip.error();
    try {
        return readArchive(std::make_shared<const ZipReader>(std::move(*zip)));
    } catch (const Json::exception& exception) {
        return unusable(path, "its JSON does not follow torch.export's schema (" + reasonOf(exception) + ")");
    }
}

} // namespace workbench
