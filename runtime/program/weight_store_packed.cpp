// The packed half of the weight store.
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"
#include "runtime/program/weight_store.h"

namespace workbench {
namespace {

bool fits(const ops::PackedWeight& weight, const TensorMeta& meta) {
    return meta.shape.size() == 2 && meta.shape[0].isConstant() && meta.shape[1].isConstant() &&
           weight.rows() == meta.shape[0].constant() && weight.columns() == meta.shape[1].constant();
}

} // namespace

Result<ops::PackedWeight> WeightStore::fetchPacked(const Input& input, const TensorMeta& meta) {
    return guarded("Loading " + input.target, [&]() -> Result<ops::PackedWeight> {
        auto weight = packed(input, meta);
        if (!weight || fits(*weight, meta))
            return weight;
        return otherShape(input, {weight->rows(), weight->columns()},
                          {meta.shape[0].constant(), meta.shape[1].constant()});
    });
}

std::optional<ops::PackedWeight> WeightStore::findPacked(const Input& input, const TensorMeta& meta) {
    const auto known = m_packed.find(keyOf(input.target, meta.dtype));
    if (input.derived || known == m_packed.end() || !fits(known->second, meta))
        return std::nullopt;
    return known->second;
}

Result<ops::PackedWeight> WeightStore::packed(const Input& input, const TensorMeta& meta) {
    if (!input.derived) {
        const std::vector<std::int64_t> shape{meta.shape[0].constant(), meta.shape[1].constant()};
        return packedParameter(input.target, meta.dtype, &shape);
    }
    if (input.derived->dim != 0) {
        auto merged = derived(*input.derived, meta.dtype);
        return merged ? Result<ops::PackedWeight>(ops::PackedWeight::of(*merged)) : merged.error();
    }
    std::vector<ops::PackedWeight> parts;
    for (const std::string& source : input.derived->sources) {
        auto part = packedParameter(source, meta.dtype, nullptr);
        if (!part)
            return part;
        parts.push_back(std::move(*part));
    }
    return ops::PackedWeight::joined(parts);
}

Result<ops::PackedWeight> WeightStore::packedParameter(const std::string& name, ScalarType dtype,
                                                       const std::vector<std::int64_t>* shape) {
    if (shape)
        m_shapes[name] = *shape;
    const std::string key = keyOf(name, dtype);
    if (const auto known = m_packed.find(key); known != m_packed.end())
        return known->second;
    const ParameterOrigin own{.tensor = name};
    const ParameterOrigin* origin = originOf(name);
    auto weight = packedOrigin(name, origin ? *origin : own, dtype);
    if (weight)
        m_packed.emplace(key, *weight);
    return weight;
}

Result<ops::PackedWeight> WeightStore::packedOrigin(const std::string& name, const ParameterOrigin& origin,
                                                    ScalarType dtype) {
    const bool plain = m_tensors.contains(keyOf(name, dtype));
    if (!plain && m_checkpoint && origin.op == ParameterOrigin::Op::tensor &&
        m_checkpoint->isMatrix(origin.tensor, dtype))
        return m_checkpoint->readPacked(origin.tensor);
    // Not as it is stored: converted, joined, random, or from the archive. The tensor that it is made of goes
    // away, unless a program uses that too.
    auto tensor = plain ? m_tensors.at(keyOf(name, dtype)) : parameter(name, dtype, nullptr);
    return tensor ? Result<ops::PackedWeight>(ops::PackedWeight::of(*tensor)) : tensor.error();
}

} // namespace workbench
