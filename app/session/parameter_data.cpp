#include "app/session/parameter_data.h"

#include "app/session/element_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace workbench {
namespace {

using nlohmann::json;

constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;

Error badData(const std::string& what, const std::string& where) {
    return {ErrorCode::badInput, what, where};
}

std::int64_t product(const std::vector<std::int64_t>& sizes, std::size_t from, std::size_t to) {
    return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(from),
                           sizes.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1},
                           std::multiplies<>());
}

template <typename Value>
Value loadAt(const std::string& bytes, std::size_t index) {
    Value value;
    std::memcpy(&value, bytes.data() + index * sizeof(Value), sizeof(Value));
    return value;
}

std::uint16_t toBf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool isReadable(ScalarType type) {
    return type == ScalarType::f32 || type == ScalarType::bf16 || type == ScalarType::f16;
}

float element(const TensorBytes& tensor, std::size_t index) {
    if (tensor.dtype == ScalarType::f32)
        return loadAt<float>(tensor.bytes, index);
    const auto bits = loadAt<std::uint16_t>(tensor.bytes, index);
    return tensor.dtype == ScalarType::bf16 ? fromBf16(bits) : fromF16(bits);
}

std::vector<std::int64_t> constantShape(const TensorMeta& meta) {
    std::vector<std::int64_t> shape;
    for (const SymInt& size : meta.shape)
        shape.push_back(size.isConstant() ? size.constant() : -1);
    return shape;
}

} // namespace

Result<TensorBytes> concatenate(const std::vector<TensorBytes>& parts, std::int64_t dim) {
    const auto axis = static_cast<std::size_t>(dim);
    if (parts.empty() || dim < 0 || axis >= parts.front().shape.size())
        return badData("a concatenation along dim " + std::to_string(dim) + " does not exist", {});
    TensorBytes joined{parts.front().dtype, parts.front().shape, {}};
    joined.shape[axis] = 0;
    for (const TensorBytes& part : parts) {
        auto expected = joined.shape;
        if (part.shape.size() == expected.size())
            expected[axis] = part.shape[axis];
        if (part.dtype != joined.dtype || part.shape != expected)
            return badData("the parts of a concatenation have different types or sizes", {});
        joined.shape[axis] += part.shape[axis];
    }
    const std::int64_t outer = product(joined.shape, 0, axis);
    for (std::int64_t row = 0; row < outer; ++row)
        for (const TensorBytes& part : parts) {
            const auto bytes = static_cast<std::size_t>(product(part.shape, axis, part.shape.size())) *
                               bytesPerElement(part.dtype);
            joined.bytes.append(part.bytes, static_cast<std::size_t>(row) * bytes, bytes);
        }
    return joined;
}

Result<TensorBytes> convert(TensorBytes tensor, ScalarType dtype) {
    if (tensor.dtype == dtype)
        return tensor;
    if (!isReadable(tensor.dtype) || (dtype != ScalarType::f32 && dtype != ScalarType::bf16))
        return badData("data of type " + std::string(name(tensor.dtype)) + " cannot become " +
                           std::string(name(dtype)),
                       {});
    const std::size_t count = tensor.bytes.size() / bytesPerElement(tensor.dtype);
    TensorBytes converted{dtype, tensor.shape, std::string(count * bytesPerElement(dtype), '\0')};
    for (std::size_t i = 0; i < count; ++i) {
        const float value = element(tensor, i);
        const std::uint16_t narrow = toBf16(value);
        if (dtype == ScalarType::f32)
            std::memcpy(converted.bytes.data() + i * sizeof value, &value, sizeof value);
        else
            std::memcpy(converted.bytes.data() + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return converted;
}

Result<ParameterData> ParameterData::open(const TracedModel& model) {
    ParameterData data;
    data.m_model = &model;
    auto archive = readPt2(model.archive);
    if (!archive)
        return archive.error();
    data.m_archive = std::move(archive).value();
    if (!model.parameters.empty()) {
        auto checkpoint = SafetensorsIndex::open(model.directory);
        if (!checkpoint)
            return checkpoint.error();
        data.m_checkpoint = std::move(checkpoint).value();
    }
    return data;
}

Error ParameterData::noTensor(const std::string& tensor) const {
    return badData("the checkpoint " + m_model->directory.string() + " has no tensor " + tensor, tensor);
}

Result<TensorBytes> ParameterData::fromCheckpoint(const std::string& tensor) const {
    const SafetensorsEntry* entry = m_checkpoint ? m_checkpoint->find(tensor) : nullptr;
    if (!entry)
        return noTensor(tensor);
    TensorBytes read{entry->dtype, entry->shape, std::string(entry->bytes, '\0')};
    if (auto done = m_checkpoint->read(tensor, std::as_writable_bytes(std::span(read.bytes))); !done)
        return done.error();
    return read;
}

/// {"from": [{"tensor": ..} or a recipe], "op": "copy" | "cat" | "stack", "dim": 0}
Result<TensorBytes> ParameterData::fromRecipe(const json& recipe) const {
    if (recipe.contains("tensor"))
        return fromCheckpoint(recipe["tensor"].get<std::string>());
    const std::string op = recipe["op"].get<std::string>();
    std::vector<TensorBytes> parts;
    for (const json& from : recipe["from"]) {
        auto part = fromRecipe(from);
        if (!part)
            return part.error();
        parts.push_back(std::move(part).value());
    }
    if (op == "copy" && parts.size() == 1)
        return std::move(parts.front());
    const auto dim = recipe["dim"].get<std::int64_t>();
    if (op == "stack")
        for (TensorBytes& part : parts)
            part.shape.insert(part.shape.begin() + std::clamp<std::int64_t>(
                                                       dim, 0, static_cast<std::int64_t>(part.shape.size())),
                              1);
    if (op == "cat" || op == "stack")
        return concatenate(parts, dim);
    return badData("the checkpoint stores it in a way that is not supported (" + op + ")", {});
}

std::string ParameterData::storedName(const std::string& name) const {
    const auto isStored = [&](const std::string& one) {
        return m_model->parameters.contains(one) || m_archive.tensors.contains(one);
    };
    if (isStored(name))
        return name;
    for (const std::vector<std::string>& group : m_model->tied)
        if (std::find(group.begin(), group.end(), name) != group.end())
            for (const std::string& other : group)
                if (isStored(other))
                    return other;
    return name;
}

Result<TensorBytes> ParameterData::named(const std::string& parameter) const {
    const std::string name = storedName(parameter);
    if (const auto recipe = m_model->parameters.find(name); recipe != m_model->parameters.end())
        return fromRecipe(*recipe);
    const auto stored = m_archive.tensors.find(name);
    if (stored == m_archive.tensors.end())
        return badData("neither checkpoint nor archive has its data", parameter);
    auto bytes = m_archive.readTensor(name);
    if (!bytes)
        return bytes.error();
    return TensorBytes{stored->second.dtype, stored->second.sizes, std::move(bytes).value()};
}

Status ParameterData::eachPieceOfTensor(const std::string& tensor, const Job& job, const Piece& piece) const {
    const SafetensorsEntry* entry = m_checkpoint ? m_checkpoint->find(tensor) : nullptr;
    if (!entry)
        return noTensor(tensor);
    std::vector<std::byte> buffer(std::min<std::uint64_t>(kPieceBytes, entry->bytes));
    for (std::uint64_t at = 0; at < entry->bytes; at += buffer.size()) {
        if (job.cancelled())
            return cancelledError();
        const std::span part(buffer.data(), std::min<std::uint64_t>(buffer.size(), entry->bytes - at));
        if (auto read = m_checkpoint->readRange(tensor, at, part); !read)
            return read.error();
        piece(entry->dtype, part);
    }
    return Ok{};
}

Status ParameterData::eachPieceOfRecipe(const json& recipe, const Job& job, const Piece& piece) const {
    if (recipe.contains("tensor"))
        return eachPieceOfTensor(recipe["tensor"].get<std::string>(), job, piece);
    for (const json& from : recipe["from"])
        if (auto read = eachPieceOfRecipe(from, job, piece); !read)
            return read.error();
    return Ok{};
}

Status ParameterData::eachPiece(const std::string& name, const Job& job, const Piece& piece) const {
    const auto recipe = m_model->parameters.find(storedName(name));
    if (recipe != m_model->parameters.end())
        return eachPieceOfRecipe(*recipe, job, piece);
    auto whole = named(name);
    if (!whole)
        return Error{whole.error().code, "the parameter " + name + ": " + whole.error().message, name};
    piece(whole->dtype, std::as_bytes(std::span(whole->bytes)));
    return Ok{};
}

Result<std::string> ParameterData::of(const Input& input, const TensorMeta& meta) const {
    const std::vector<std::string> sources =
        input.derived ? input.derived->sources : std::vector<std::string>{input.target};
    const auto failure = [&](const Error& error) {
        return Error{error.code, "the parameter " + input.target + ": " + error.message, input.target};
    };
    std::vector<TensorBytes> parts;
    for (const std::string& source : sources) {
        auto part = named(source);
        if (part)
            part = convert(std::move(part).value(), meta.dtype);
        if (!part)
            return failure(part.error());
        parts.push_back(std::move(part).value());
    }
    auto joined = input.derived ? concatenate(parts, input.derived->dim)
                                : Result<TensorBytes>(std::move(parts.front()));
    if (!joined)
        return failure(joined.error());
    if (joined->shape != constantShape(meta))
        return failure(badData("its data has another shape than the program says", input.target));
    return std::move(joined->bytes);
}

} // namespace workbench
