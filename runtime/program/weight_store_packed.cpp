// The packed half of the weight store.
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"
#include "runtime/program/weight_store.h"

#include <algorithm>

namespace workbench {
namespace {

/// A matrix, or matrices of experts of which each is a block.
bool fits(const ops::PackedWeight& weight, const TensorMeta& meta) {
    const std::size_t rank = meta.shape.size();
    const auto isConstant = [](const SymInt& size) { return size.isConstant(); };
    if ((rank != 2 && rank != 3) || !std::all_of(meta.shape.begin(), meta.shape.end(), isConstant) ||
        weight.columns() != meta.shape.back().constant())
        return false;
    const std::int64_t rows = meta.shape[rank - 2].constant();
    if (rank == 2)
        return weight.rows() == rows;
    const auto& blocks = weight.blocks();
    return static_cast<std::int64_t>(blocks.size()) == meta.shape[0].constant() &&
           std::all_of(blocks.begin(), blocks.end(), [&](const auto& block) { return block.rows == rows; });
}

std::vector<std::int64_t> constantSizes(const TensorMeta& meta) {
    std::vector<std::int64_t> sizes;
    for (const SymInt& size : meta.shape)
        sizes.push_back(size.constant());
    return sizes;
}

/// The same panels for products of another dtype.
ops::PackedWeight retyped(const ops::PackedWeight& weight, ops::WeightType type) {
    return {type, weight.columns(), weight.blocks()};
}

/// How the matrix of one expert is made, when the matrices of all are stacked or are stacks side by side;
/// nothing for any other way.
std::optional<ParameterOrigin> expertOrigin(const ParameterOrigin& origin, std::size_t expert) {
    if (origin.op == ParameterOrigin::Op::stack && origin.dim == 0 && expert < origin.parts.size())
        return origin.parts[expert];
    if (origin.op != ParameterOrigin::Op::cat || origin.dim < 1)
        return std::nullopt;
    ParameterOrigin joined{.op = ParameterOrigin::Op::cat, .dim = origin.dim - 1};
    for (const ParameterOrigin& part : origin.parts) {
        auto matrix = expertOrigin(part, expert);
        if (!matrix)
            return std::nullopt;
        joined.parts.push_back(std::move(*matrix));
    }
    return joined;
}

} // namespace

ops::WeightType WeightStore::PackedAs::type() const {
    return {toTorch(dtype), format};
}

std::optional<ScalarType> WeightStore::PackedAs::source() const {
    return format == ops::WeightFormat::stored ? std::optional(dtype) : std::nullopt;
}

std::string WeightStore::packedKey(const std::string& name, PackedAs as) const {
    return as.format == ops::WeightFormat::stored ? keyOf(name, as.dtype)
                                                  : keyOf(name, ops::nameOf(as.format));
}

Result<ops::PackedWeight> WeightStore::fetchPacked(const Input& input, const TensorMeta& meta) {
    return fetchPackedAs(input, meta, m_spec.format);
}

Result<ops::PackedWeight> WeightStore::fetchPackedAsStored(const Input& input, const TensorMeta& meta) {
    return fetchPackedAs(input, meta, ops::WeightFormat::stored);
}

Result<ops::PackedWeight> WeightStore::fetchPackedAs(const Input& input, const TensorMeta& meta,
                                                     ops::WeightFormat format) {
    return guarded("Loading " + input.target, [&]() -> Result<ops::PackedWeight> {
        auto weight = packed(input, {meta.dtype, format}, constantSizes(meta));
        if (!weight || fits(*weight, meta))
            return weight;
        const auto blocks = static_cast<std::int64_t>(weight->blocks().size());
        const std::vector<std::int64_t> found =
            meta.shape.size() == 3
                ? std::vector<std::int64_t>{blocks, weight->rows() / std::max<std::int64_t>(1, blocks),
                                            weight->columns()}
                : std::vector<std::int64_t>{weight->rows(), weight->columns()};
        return otherShape(input, found, constantSizes(meta));
    });
}

std::optional<ops::PackedWeight> WeightStore::findPacked(const Input& input, const TensorMeta& meta) {
    for (const ops::WeightFormat format : {m_spec.format, ops::WeightFormat::stored}) {
        const PackedAs as{meta.dtype, format};
        const auto known = m_packed.find(packedKey(input.target, as));
        if (!input.derived && known != m_packed.end() && fits(known->second, meta))
            return retyped(known->second, as.type());
    }
    return std::nullopt;
}

Result<ops::PackedWeight> WeightStore::packed(const Input& input, PackedAs as,
                                              const std::vector<std::int64_t>& shape) {
    if (!input.derived)
        return packedParameter(input.target, as, &shape);
    if (input.derived->dim != 0) {
        auto merged = derived(*input.derived, as.dtype);
        return merged ? packedTensor(input.target, *merged, as) : merged.error();
    }
    std::vector<ops::PackedWeight> parts;
    for (const std::string& source : input.derived->sources) {
        auto part = packedParameter(source, as, nullptr);
        if (!part)
            return part;
        parts.push_back(std::move(*part));
    }
    return ops::PackedWeight::joined(parts);
}

Result<ops::PackedWeight> WeightStore::packedParameter(const std::string& name, PackedAs as,
                                                       const std::vector<std::int64_t>* shape) {
    if (shape)
        m_shapes[name] = *shape;
    const std::string key = packedKey(name, as);
    if (const auto known = m_packed.find(key); known != m_packed.end())
        return retyped(known->second, as.type());
    const ParameterOrigin own{.tensor = name};
    const ParameterOrigin* origin = originOf(name);
    auto weight = packedOrigin(name, origin ? *origin : own, as, shape);
    if (weight)
        m_packed.emplace(key, *weight);
    return weight;
}

Result<ops::PackedWeight> WeightStore::packedOrigin(const std::string& name, const ParameterOrigin& origin,
                                                    PackedAs as, const std::vector<std::int64_t>* shape) {
    const bool plain = as.format == ops::WeightFormat::stored && m_tensors.contains(keyOf(name, as.dtype));
    const bool experts = shape && shape->size() == 3;
    if (!plain && m_checkpoint && !experts && origin.op == ParameterOrigin::Op::tensor &&
        m_checkpoint->canReadPacked(origin.tensor, as.type()))
        return m_checkpoint->readPacked(origin.tensor, as.type());
    if (!plain && m_checkpoint && experts && expertOrigin(origin, 0))
        return packedExperts(name, origin, as, *shape);
    // Not as it is stored: converted, joined, random, or from the archive. The tensor that it is made of goes
    // away, unless a program uses that too.
    auto tensor = plain ? m_tensors.at(keyOf(name, as.dtype)) : parameter(name, as.source(), nullptr);
    return tensor ? packedTensor(name, *tensor, as) : tensor.error();
}

Result<ops::PackedWeight> WeightStore::packedTensor(const std::string& name, const at::Tensor& tensor,
                                                    PackedAs as) {
    auto weight = ops::PackedWeight::tryOf(tensor, as.type());
    return weight ? Result<ops::PackedWeight>(std::move(*weight)) : cannotQuantise(name);
}

/// One expert's matrix at a time is read and packed: a layer's experts take gigabytes.
Result<ops::PackedWeight> WeightStore::packedExperts(const std::string& name, const ParameterOrigin& origin,
                                                     PackedAs as, const std::vector<std::int64_t>& shape) {
    std::optional<Error> failed;
    if (expertOrigin(origin, static_cast<std::size_t>(shape[0])))
        return Error{ErrorCode::badInput,
                     name + " has more experts in the checkpoint than the " + std::to_string(shape[0]) +
                         " of the graph: the weights belong to another model.",
                     name};
    const ops::WeightType type = as.type();
    const auto pack = [&](std::int64_t expert, void* panels) -> Status {
        const auto own = expertOrigin(origin, static_cast<std::size_t>(expert));
        auto matrix = own ? assemble(name, *own, as.source()) : notFound(name);
        if (!matrix)
            return matrix.error();
        if (matrix->sizes() != at::IntArrayRef{shape[1], shape[2]})
            return Error{ErrorCode::badInput,
                         "Expert " + std::to_string(expert) + " of " + name +
                             " has another shape in the checkpoint than in the graph: the weights belong to "
                             "another model.",
                         name};
        if (!ops::packRows(type, matrix->scalar_type(), matrix->contiguous().const_data_ptr(), shape[1],
                           shape[2], panels))
            return cannotQuantise("Expert " + std::to_string(expert) + " of " + name);
        return Ok{};
    };
    auto weight = ops::PackedWeight::stacked(
        type, shape[0], shape[1], shape[2], [&](std::int64_t expert, void* panels) {
            if (auto packed = failed ? Status(Ok{}) : pack(expert, panels); !packed)
                failed = packed.error();
        });
    return failed ? Result<ops::PackedWeight>(*failed) : Result<ops::PackedWeight>(std::move(weight));
}

} // namespace workbench
