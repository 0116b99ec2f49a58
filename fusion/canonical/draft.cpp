#include "fusion/canonical/draft.h"

#include <algorithm>

namespace workbench {
namespace {

/// Text that is equal for nodes that compute the same: op, arguments, module.
std::string key(const Graph& graph, const Node& node) {
    std::string text = node.op;
    for (const Argument& argument : node.arguments) {
        text += '\n';
        text += argument.name;
        text += static_cast<char>('a' + argument.value.index());
        text += describe(graph, &argument.value);
    }
    return text + '\n' + std::to_string(node.module);
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
    for (int i = 1; !m_names.insert(name).second; ++i)
        name = base + "_" + std::to_string(i);
    return name;
}

std::vector<ValueId> Draft::add(DraftNode draft) {
    std::vector<ValueId>* known = nullptr;
    if (!draft.outputs.empty() && draft.node.op.starts_with("aten.") && !isRandom(draft.node.op)) {
        known = &m_known[key(m_graph, draft.node)];
        if (!known->empty())
            return *known;
    }
    Node& node = draft.node;
    const NodeId id = m_graph.addNode(std::move(node.op), std::move(node.arguments), std::move(draft.outputs),
                                      node.module, node.source, std::move(node.origins));
    if (known)
        *known = m_graph.node(id).outputs;
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
