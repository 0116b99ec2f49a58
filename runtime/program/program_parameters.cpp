#include "runtime/program/program.h"

namespace workbench {

/// Weights of products come packed, where the placement packs. Those of lookups alone come last: a tied one
/// is there by then.
Status Program::fetchParameters(ParameterSource& parameters) {
    const WeightUses uses(m_graph);
    for (const bool lookups : {false, true})
        for (const Input& input : m_graph.inputs) {
            if (input.kind == Input::Kind::user || isHeld(input.value))
                continue;
            auto packed = fetchPacked(input, uses, lookups, parameters);
            if (!packed)
                return packed.error();
            if (*packed || !lookups)
                continue;
            auto tensor = parameters.fetch(input, m_graph.value(input.value).meta);
            if (!tensor)
                return tensor.error();
            if (input.kind == Input::Kind::parameter)
                countParameter(tensor->const_data_ptr(), tensor->numel(),
                               static_cast<std::int64_t>(tensor->nbytes()));
            m_constants[static_cast<std::size_t>(input.value)] = std::move(*tensor);
        }
    return Ok{};
}

/// Whether the parameter is one that only products and lookups, or only experts read (`lookups`: only
/// lookups), and was fetched packed.
Result<bool> Program::fetchPacked(const Input& input, const WeightUses& uses, bool lookups,
                                  ParameterSource& parameters) {
    if (!m_placement.direct || uses.formOf(input) != (lookups ? WeightForm::tied : WeightForm::packed))
        return false;
    const TensorMeta& meta = m_graph.value(input.value).meta;
    if (lookups) {
        auto known = parameters.findPacked(input, meta);
        if (known)
            usePacked(input.value, std::move(*known));
        return known.has_value();
    }
    auto packed = uses.keepsPrecision(input) ? parameters.fetchPackedAsStored(input, meta)
                                             : parameters.fetchPacked(input, meta);
    if (!packed)
        return packed.error();
    usePacked(input.value, std::move(*packed));
    return true;
}

void Program::usePacked(ValueId value, ops::PackedWeight weight) {
    for (const ops::PackedWeight::Block& block : weight.blocks())
        countParameter(block.panels.get(), block.rows * weight.columns(),
                       ops::weightBytes(weight.type(), block.rows, weight.columns()));
    givePacked(value, std::make_shared<const ops::PackedWeight>(std::move(weight)));
}

void Program::givePacked(ValueId value, const std::shared_ptr<const ops::PackedWeight>& weight) {
    for (BoundNode& node : m_nodes)
        if (weightUse(m_graph, m_graph.node(node.node), value) != WeightUse::other)
            node.usePacked(value, weight);
    m_packed[static_cast<std::size_t>(value)] = weight;
}

void Program::countParameter(const void* data, std::int64_t elements, std::int64_t bytes) {
    if (!m_counted.insert(data).second)
        return;
    m_parameterCount += elements;
    m_parameterBytes += bytes;
}

} // namespace workbench
