#include "fusion/canonical/draft.h"

#include <algorithm>

namespace workbench {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
    return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

/// Equal for nodes that compute the same, by op, operands and module; numbers are left to the comparison.
std::size_t hashOf(const Node& node) {
    std::size_t seed = mix(std::hash<std::string>()(node.op), static_cast<std::size_t>(node.module));
    for (const Argument& argument : node.arguments) {
        if (const auto* single = std::get_if<ValueRef>(&argument.value))
            seed = mix(seed, static_cast<std::size_t>(single->id));
        else if (const auto* list = std::get_if<std::vector<ValueRef>>(&argument.value))
            for (const ValueRef& reference : *list)
                seed = mix(seed, static_cast<std::size_t>(reference.id));
    }
    return seed;
}

bool isRandom(std::string_view op) {
    return op.find("rand") != std::string_view::npos || op.find("dropout") != std::string_view::npos ||
           op.find("bernoulli") != std::string_view::npos || op.find("multinomial") != std::string_view::npos;
}

} // namespace

bool DraftNode::done() const {
    return !aliases.empty() && std::find(aliases.begin(), aliases.end(), kNone) == aliases.end();
}

Draft::Draft(const Graph& traced) {
    m_graph.modules = traced.modules;
    m_graph.sources = traced.sources;
    m_graph.nodes.reserve(traced.nodes.size());
    m_graph.values.reserve(traced.values.size());
    m_names.reserve(traced.values.size());
    m_known.reserve(traced.nodes.size());
    for (const Value& value : traced.values)
        m_names.insert(value.name);
}

void Draft::addInputs(const Graph& traced, std::vector<ValueId>& map) {
    for (const Input& input : traced.inputs) {
        const Value& value = traced.value(input.value);
        map[static_cast<std::size_t>(input.value)] =
            m_graph.addInput(input.kind, value.name, value.meta, input.target);
        m_graph.inputs.back().derived = input.derived;
    }
}

const Node* Draft::madeBy(ValueId value, std::string_view op) const {
    const NodeId producer = value == kNone ? kNone : m_graph.value(value).producer;
    if (producer == kNone || baseName(m_graph.node(producer).op) != op)
        return nullptr;
    return &m_graph.node(producer);
}

bool Draft::become(std::string op, std::vector<Argument> arguments) {
    if (m_current->node.op == op && m_current->node.arguments == arguments)
        return false;
    m_current->node.op = std::move(op);
    m_current->node.arguments = std::move(arguments);
    return true;
}

bool Draft::alias(ValueId value) {
    m_current->aliases.assign(1, value);
    return true;
}

ValueId Draft::insert(std::string op, std::vector<Argument> arguments, std::string name, TensorMeta meta) {
    DraftNode* const outer = m_current;
    DraftNode inner;
    inner.node.op = std::move(op);
    inner.node.arguments = std::move(arguments);
    inner.node.module = outer->node.module;
    inner.node.source = outer->node.source;
    inner.node.origins = outer->node.origins;
    inner.outputs.emplace_back(std::move(name), std::move(meta));
    const ValueId result = process(std::move(inner)).front();
    m_current = outer;
    return result;
}

std::string Draft::uniqueName(std::string base) {
    std::string name = base;
    for (int i = 1; m_names.contains(name); ++i)
        name = base + "_" + std::to_string(i);
    m_names.insert(m_ownNames.emplace_back(name));
    return name;
}

std::vector<ValueId> Draft::add(DraftNode draft) {
    Node& node = draft.node;
    const bool pure = !draft.outputs.empty() && node.op.starts_with("aten.") && !isRandom(node.op);
    const std::size_t hash = pure ? hashOf(node) : 0;
    const auto [first, last] = m_known.equal_range(hash);
    for (auto known = first; pure && known != last; ++known) {
        const Node& other = m_graph.node(known->second);
        if (other.op == node.op && other.module == node.module && other.arguments == node.arguments)
            return other.outputs;
    }
    const NodeId id = m_graph.addNode(std::move(node.op), std::move(node.arguments), std::move(draft.outputs),
                                      node.module, node.source, std::move(node.origins));
    if (pure)
        m_known.emplace(hash, id);
    return m_graph.node(id).outputs;
}

std::vector<ValueId> Draft::process(DraftNode draft) {
    draft.aliases.assign(draft.outputs.size(), kNone);
    m_current = &draft;
    bool changed = !draft.outputs.empty();
    while (changed && !draft.done()) {
        changed = false;
        for (const CanonicalRule& rule : canonicalRules()) {
            if (rule.apply(*this)) {
                changed = true;
                break;
            }
        }
        m_current = &draft;
    }
    return draft.done() ? draft.aliases : add(std::move(draft));
}

} // namespace workbench
