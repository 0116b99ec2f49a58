#include "runtime/program/program.h"
#include "runtime/program/scalar_types.h"

#include <algorithm>

namespace workbench {

/// Weights of products come packed. Those of lookups alone come last: a tied one is there by then.
Status Program::fetchParameters(ParameterSource& parameters) {
    const std::vector<WeightUses> uses = weightUses();
    for (const bool lookups : {false, true})
        for (const Input& input : m_graph.inputs) {
            if (input.kind == Input::Kind::user || isHeld(input.value))
                continue;
            auto packed =
                fetchPacked(input, uses[static_cast<std::size_t>(input.value)], lookups, parameters);
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

std::vector<Program::WeightUses> Program::weightUses() const {
    std::vector<WeightUses> uses(m_graph.values.size());
    for (const BoundNode& node : m_nodes)
        for (const ValueId id : node.inputs()) {
            WeightUses& use = uses[static_cast<std::size_t>(id)];
            const WeightUse kind = weightUse(m_graph, node, id);
            use.product = use.product || kind == WeightUse::product;
            use.lookup = use.lookup || kind == WeightUse::lookup;
            use.experts = use.experts || kind == WeightUse::experts;
            use.other = use.other || kind == WeightUse::other;
        }
    for (const ValueId id : m_graph.outputs)
        uses[static_cast<std::size_t>(id)].other = true;
    return uses;
}

/// Whether the parameter is one that only products and lookups, or only experts read (`lookups`: only
/// lookups), and was fetched packed.
Result<bool> Program::fetchPacked(const Input& input, const WeightUses& uses, bool lookups,
                                  ParameterSource& parameters) {
    const TensorMeta& meta = m_graph.value(input.value).meta;
    const bool constant = std::all_of(meta.shape.begin(), meta.shape.end(),
                                      [](const SymInt& size) { return size.isConstant(); });
    const bool matrix = constant && meta.shape.size() == (uses.experts ? 3 : 2);
    const bool wanted = lookups ? uses.lookup && !uses.product : uses.product || uses.experts;
    if (input.kind != Input::Kind::parameter || !matrix || !ops::canPack(toTorch(meta.dtype)) || uses.other ||
        !wanted)
        return false;
    if (lookups) {
        auto known = parameters.findPacked(input, meta);
        if (known)
            usePacked(input.value, std::move(*known));
        return known.has_value();
    }
    auto packed = parameters.fetchPacked(input, meta);
    if (!packed)
        return packed.error();
    usePacked(input.value, std::move(*packed));
    return true;
}

void Program::usePacked(ValueId value, ops::PackedWeight weight) {
    for (const ops::PackedWeight::Block& block : weight.blocks())
        countParameter(block.panels.get(), block.rows * weight.columns(),
                       ops::weightBytes(weight.type(), block.rows, weight.columns()));
    const auto shared = std::make_shared<const ops::PackedWeight>(std::move(weight));
    for (BoundNode& node : m_nodes)
        if (weightUse(m_graph, node, value) != WeightUse::other)
            node.usePacked(value, shared);
    m_packed[static_cast<std::size_t>(value)] = true;
}

void Program::countParameter(const void* data, std::int64_t elements, std::int64_t bytes) {
    if (!m_counted.insert(data).second)
        return;
    m_parameterCount += elements;
    m_parameterBytes += bytes;
}

} // namespace workbench
