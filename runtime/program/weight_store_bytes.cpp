// What the weight store would take of memory, and what in which form.
#include "runtime/program/scalar_types.h"
#include "runtime/program/weight_store.h"

#include <algorithm>
#include <set>

namespace workbench {
namespace {

std::optional<std::vector<std::int64_t>> constantShape(const TensorMeta& meta) {
    std::vector<std::int64_t> shape;
    for (const SymInt& size : meta.shape) {
        if (!size.isConstant())
            return std::nullopt;
        shape.push_back(size.constant());
    }
    return shape;
}

/// Of a tensor, or of panels of a format in fewer bits: nothing else takes another number of bytes packed.
std::int64_t bytesOf(const std::vector<std::int64_t>& shape, ScalarType dtype, ops::WeightFormat format) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape)
        elements *= size;
    if (format == ops::WeightFormat::stored || shape.empty() || shape.back() == 0)
        return elements * static_cast<std::int64_t>(bytesPerElement(dtype));
    return ops::weightBytes({toTorch(dtype), format}, elements / shape.back(), shape.back());
}

} // namespace

/// 0 for what is there. A merged parameter takes the place of its sources.
std::int64_t WeightStore::missingBytesOf(const Input& input, const TensorMeta& meta, WeightForm form,
                                         ops::WeightFormat format) const {
    const bool packed = form == WeightForm::packed;
    const auto isThere = [&](const std::string& name) {
        const bool tied = form == WeightForm::tied &&
                          (m_packed.contains(packedKey(name, {meta.dtype, m_spec.format})) ||
                           m_packed.contains(packedKey(name, {meta.dtype, ops::WeightFormat::stored})));
        return tied || (packed ? m_packed.contains(packedKey(name, {meta.dtype, format}))
                               : m_tensors.contains(keyOf(name, meta.dtype)));
    };
    if (input.derived) {
        const std::vector<std::string>& sources = input.derived->sources;
        const bool merged = !packed && m_tensors.contains(derivedKey(*input.derived, meta.dtype));
        if (merged || (input.derived->dim == 0 && std::all_of(sources.begin(), sources.end(), isThere)))
            return 0;
    } else if (isThere(input.target)) {
        return 0;
    }
    const auto shape = constantShape(meta);
    return shape ? bytesOf(*shape, meta.dtype, packed ? format : ops::WeightFormat::stored) : 0;
}

std::int64_t WeightStore::missingBytes(const Graph& graph) const {
    const WeightUses uses(graph);
    const auto formOf = [&](const Input& input) {
        return m_spec.device.is_cpu() ? uses.formOf(input) : WeightForm::plain;
    };
    std::set<std::string> packedKeys, plainKeys;
    std::int64_t bytes = 0;
    for (const WeightForm form : {WeightForm::packed, WeightForm::plain, WeightForm::tied})
        for (const Input& input : graph.inputs) {
            if (input.kind == Input::Kind::user || formOf(input) != form)
                continue;
            const TensorMeta& meta = graph.value(input.value).meta;
            const std::string key =
                input.derived ? derivedKey(*input.derived, meta.dtype) : keyOf(input.target, meta.dtype);
            const bool taken = (form != WeightForm::plain && packedKeys.contains(key)) ||
                               (form != WeightForm::packed && plainKeys.contains(key));
            if (taken)
                continue;
            (form == WeightForm::packed ? packedKeys : plainKeys).insert(key);
            const bool precise = uses.keepsPrecision(input);
            bytes += missingBytesOf(input, meta, form, precise ? ops::WeightFormat::stored : m_spec.format);
        }
    return bytes;
}

ProductWeights WeightStore::productWeights(const Graph& graph) const {
    const WeightUses uses(graph);
    ProductWeights weights;
    std::set<std::string> counted;
    for (const Input& input : graph.inputs) {
        const bool packed = uses.formOf(input) == WeightForm::packed;
        if (input.kind == Input::Kind::user || !(packed || uses.isProductWeight(input)))
            continue;
        const TensorMeta& meta = graph.value(input.value).meta;
        const auto shape = constantShape(meta);
        const std::string key =
            input.derived ? derivedKey(*input.derived, meta.dtype) : keyOf(input.target, meta.dtype);
        if (!shape || !counted.insert(key).second)
            continue;
        const bool precise = uses.keepsPrecision(input);
        const bool quantised = packed && !precise && m_spec.format != ops::WeightFormat::stored;
        ProductWeights::Count& count = precise     ? weights.precise
                                       : quantised ? weights.quantised
                                                   : weights.stored;
        ++count.matrices;
        count.bytes += bytesOf(*shape, meta.dtype, quantised ? m_spec.format : ops::WeightFormat::stored);
    }
    return weights;
}

} // namespace workbench
