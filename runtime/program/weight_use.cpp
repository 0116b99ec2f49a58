#include "runtime/program/weight_use.h"

#include "core/graph/op_classes.h"
#include "runtime/ops/packed_weight.h"
#include "runtime/program/scalar_types.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace workbench {
namespace {

template <std::size_t kCount>
bool isOneOf(std::string_view name, const std::array<std::string_view, kCount>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool isDefault(const Node& node, std::string_view name) {
    return node.op == name || (baseName(node.op) == name && node.op.ends_with(".default"));
}

/// weight[indices] with one tensor of indices.
bool isPick(const Node& node) {
    const auto* indices = argument(node, "indices");
    const auto* list = indices ? std::get_if<std::vector<ValueRef>>(indices) : nullptr;
    return node.op == "aten.index.Tensor" && list && list->size() == 1 && list->front().id != kNone;
}

bool isVector(const TensorMeta& meta) {
    return meta.shape.size() == 1 && meta.dtype == ScalarType::i64;
}

bool isConstant(const TensorMeta& meta) {
    return std::all_of(meta.shape.begin(), meta.shape.end(),
                       [](const SymInt& size) { return size.isConstant(); });
}

/// What a product multiplies, by the schemas' names; not what it adds.
constexpr std::array<std::string_view, 9> kFactors{"input", "weight", "self",   "other",  "mat1",
                                                   "mat2",  "batch1", "batch2", "tensors"};

/// Values that `node` multiplies, when it is a product.
std::vector<ValueId> factorsOf(const Node& node) {
    const std::string_view name = baseName(node.op);
    if (name == "workbench.moe_experts")
        return {operand(node, "gate_up"), operand(node, "down")};
    std::vector<ValueId> factors;
    if (!isProduct(name))
        return factors;
    const bool adds = name.starts_with("aten.add") || name == "aten.baddbmm"; // then self is the sum's
    for (const Argument& given : node.arguments) {
        if (!isOneOf(given.name, kFactors) || (adds && given.name == "self"))
            continue;
        if (const auto* one = std::get_if<ValueRef>(&given.value))
            factors.push_back(one->id);
        if (const auto* list = std::get_if<std::vector<ValueRef>>(&given.value))
            for (const ValueRef& each : *list)
                factors.push_back(each.id);
    }
    return factors;
}

/// Whether its results have the numbers of its operands, in another place or type.
bool isArrangement(std::string_view name) {
    static constexpr std::array<std::string_view, 10> kCopies{
        "aten.index", "aten.index_select", "aten.clone",  "aten.contiguous", "aten._to_copy",
        "aten.to",    "aten.flatten",      "aten.narrow", "aten.cat",        "aten.stack"};
    return isView(name) || isOneOf(name, kCopies);
}

/// What stands between the product of a router and the selection: scores, biases, masks over groups.
constexpr std::array<std::string_view, 13> kScores{
    "aten.softmax",      "aten._softmax", "aten.log_softmax", "aten.sigmoid", "aten.add",
    "aten.sub",          "aten.mul",      "aten.div",         "aten.where",   "aten.masked_fill",
    "aten._log_softmax", "aten.tanh",     "aten.softplus"};

bool isSelection(std::string_view name) {
    return name == "aten.topk" || name == "workbench.moe_route";
}

} // namespace

std::vector<bool> neededNodes(const Graph& graph) {
    std::vector<bool> nodes(graph.nodes.size()), values(graph.values.size());
    const auto isNeeded = [&](ValueId id) { return bool(values[static_cast<std::size_t>(id)]); };
    for (const ValueId id : graph.outputs)
        values[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& node = graph.nodes[i];
        if (node.op.starts_with("aten._assert_tensor_metadata") ||
            (!node.outputs.empty() && std::none_of(node.outputs.begin(), node.outputs.end(), isNeeded)))
            continue;
        nodes[i] = true;
        for (const ValueId id : operands(node))
            values[static_cast<std::size_t>(id)] = true;
    }
    return nodes;
}

WeightUse weightUse(const Graph& graph, const Node& node, ValueId id) {
    // A weight that is another operand of the node, too, must stay a tensor.
    const Operands all = operands(node);
    if (std::count(all.begin(), all.end(), id) != 1)
        return WeightUse::other;
    if (isDefault(node, "workbench.moe_experts"))
        return operand(node, "gate_up") == id || operand(node, "down") == id ? WeightUse::experts
                                                                             : WeightUse::other;
    if (isPick(node)) {
        const auto isChoice = [&](ValueId other) { return other == id || isVector(graph.value(other).meta); };
        return operand(node, "self") == id && graph.value(id).meta.shape.size() == 3 &&
                       std::all_of(all.begin(), all.end(), isChoice)
                   ? WeightUse::experts
                   : WeightUse::other;
    }
    const bool product = isDefault(node, "aten.linear");
    if ((!product && !isDefault(node, "aten.embedding")) || operand(node, "weight") != id)
        return WeightUse::other;
    return product ? WeightUse::product : WeightUse::lookup;
}

WeightUses::WeightUses(const Graph& graph)
    : m_graph(graph), m_uses(graph.values.size()), m_multiplied(graph.values.size()),
      m_routes(graph.values.size()) {
    const std::vector<bool> needed = neededNodes(graph);
    findUses(needed);
    findProducts(needed);
    findRouters(needed);
    for (const Input& input : graph.inputs)
        m_hasBfloat16 = m_hasBfloat16 || (input.kind == Input::Kind::parameter &&
                                          graph.value(input.value).meta.dtype == ScalarType::bf16);
}

void WeightUses::findUses(const std::vector<bool>& needed) {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
        if (!needed[i])
            continue;
        for (const ValueId id : operands(m_graph.nodes[i])) {
            Uses& uses = m_uses[static_cast<std::size_t>(id)];
            const WeightUse use = weightUse(m_graph, m_graph.nodes[i], id);
            uses.product = uses.product || use == WeightUse::product;
            uses.lookup = uses.lookup || use == WeightUse::lookup;
            uses.experts = uses.experts || use == WeightUse::experts;
            uses.other = uses.other || use == WeightUse::other;
        }
    }
    for (const ValueId id : m_graph.outputs)
        m_uses[static_cast<std::size_t>(id)].other = true;
}

/// Marks values that products multiply, from the last node to the first.
void WeightUses::findProducts(const std::vector<bool>& needed) {
    const auto isMarked = [&](ValueId id) { return bool(m_multiplied[static_cast<std::size_t>(id)]); };
    for (std::size_t i = m_graph.nodes.size(); i-- > 0;) {
        const Node& node = m_graph.nodes[i];
        if (!needed[i])
            continue;
        for (const ValueId id : factorsOf(node))
            if (id != kNone)
                m_multiplied[static_cast<std::size_t>(id)] = true;
        if (isArrangement(baseName(node.op)) &&
            std::any_of(node.outputs.begin(), node.outputs.end(), isMarked))
            for (const ValueId id : operands(node))
                m_multiplied[static_cast<std::size_t>(id)] = true;
    }
}

/// Marks scores that a selection of the largest reads, and the weights of the products that make them.
void WeightUses::findRouters(const std::vector<bool>& needed) {
    const auto isMarked = [&](ValueId id) { return bool(m_routes[static_cast<std::size_t>(id)]); };
    for (std::size_t i = m_graph.nodes.size(); i-- > 0;) {
        const Node& node = m_graph.nodes[i];
        const std::string_view name = baseName(node.op);
        const bool marked = std::any_of(node.outputs.begin(), node.outputs.end(), isMarked);
        if (!needed[i] || (!marked && !isSelection(name)))
            continue;
        if (isSelection(name) || isArrangement(name) || isOneOf(name, kScores))
            for (const ValueId id : operands(node))
                m_routes[static_cast<std::size_t>(id)] = true;
        else if (isProduct(name))
            for (const std::string_view weight : {"weight", "mat2", "other"})
                if (const ValueId id = operand(node, weight); id != kNone)
                    m_routes[static_cast<std::size_t>(id)] = true;
    }
}

WeightForm WeightUses::formOf(const Input& input) const {
    const TensorMeta& meta = m_graph.value(input.value).meta;
    const Uses& uses = m_uses[static_cast<std::size_t>(input.value)];
    const bool matrix = isConstant(meta) && meta.shape.size() == (uses.experts ? 3 : 2);
    if (input.kind != Input::Kind::parameter || !matrix || !ops::canPack(toTorch(meta.dtype)) || uses.other)
        return WeightForm::plain;
    if (uses.product || uses.experts)
        return WeightForm::packed;
    return uses.lookup ? WeightForm::tied : WeightForm::plain;
}

bool WeightUses::isProductWeight(const Input& input) const {
    const TensorMeta& meta = m_graph.value(input.value).meta;
    return input.kind != Input::Kind::user && meta.shape.size() >= 2 && isConstant(meta) &&
           isFloatingPoint(meta.dtype) && m_multiplied[static_cast<std::size_t>(input.value)];
}

bool WeightUses::keepsPrecision(const Input& input) const {
    return m_routes[static_cast<std::size_t>(input.value)] ||
           (m_hasBfloat16 && m_graph.value(input.value).meta.dtype == ScalarType::f32);
}

} // namespace workbench
