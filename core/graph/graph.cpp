#include "core/graph/graph.h"

#include <algorithm>
#include <numeric>

namespace workbench {

ValueId Graph::addValue(std::string name, TensorMeta meta, NodeId producer) {
    values.push_back(Value{std::move(name), std::move(meta), producer});
    return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::addInput(Input::Kind kind, std::string name, TensorMeta meta, std::string target) {
    const ValueId value = addValue(std::move(name), std::move(meta));
    inputs.push_back(Input{kind, value, std::move(target), std::nullopt});
    return value;
}

NodeId Graph::addNode(std::string op, std::vector<Argument> arguments,
                      std::vector<std::pair<std::string, TensorMeta>> outputs, std::int32_t module,
                      std::int32_t source, std::vector<NodeId> origins) {
    const auto id = static_cast<NodeId>(nodes.size());
    Node node{std::move(op), std::move(arguments), {}, module, source, std::move(origins)};
    node.outputs.reserve(outputs.size());
    for (auto& [name, meta] : outputs)
        node.outputs.push_back(addValue(std::move(name), std::move(meta), id));
    nodes.push_back(std::move(node));
    return id;
}

std::int32_t Graph::addModule(ModuleInfo module) {
    // Backwards: callers mostly ask for the module of the node before.
    const auto known = std::find_if(modules.rbegin(), modules.rend(),
                                    [&](const ModuleInfo& other) { return other.path == module.path; });
    if (known != modules.rend()) {
        if (known->className.empty())
            known->className = std::move(module.className);
        return static_cast<std::int32_t>(modules.rend() - known) - 1;
    }
    if (!module.path.empty()) {
        const std::size_t dot = module.path.rfind('.');
        addModule(ModuleInfo{dot == std::string::npos ? std::string() : module.path.substr(0, dot), {}});
    }
    modules.push_back(std::move(module));
    return static_cast<std::int32_t>(modules.size() - 1);
}

std::int32_t Graph::addSource(SourceStack stack) {
    const auto known = std::find(sources.rbegin(), sources.rend(), stack);
    if (known != sources.rend())
        return static_cast<std::int32_t>(sources.rend() - known) - 1;
    sources.push_back(std::move(stack));
    return static_cast<std::int32_t>(sources.size() - 1);
}

const Input* Graph::inputOf(ValueId id) const {
    const auto found =
        std::find_if(inputs.begin(), inputs.end(), [id](const Input& input) { return input.value == id; });
    return found == inputs.end() ? nullptr : &*found;
}

std::string_view Graph::modulePath(NodeId id) const {
    const std::int32_t module = node(id).module;
    return module == kNone ? std::string_view()
                           : std::string_view(modules[static_cast<std::size_t>(module)].path);
}

const SourceFrame* Graph::sourceFrame(NodeId id) const {
    const std::int32_t source = node(id).source;
    if (source == kNone || sources[static_cast<std::size_t>(source)].empty())
        return nullptr;
    return &sources[static_cast<std::size_t>(source)].back();
}

const ArgumentValue* argument(const Node& node, std::string_view name) {
    for (const Argument& candidate : node.arguments)
        if (candidate.name == name)
            return &candidate.value;
    return nullptr;
}

ValueId operand(const Node& node, std::string_view name) {
    const ArgumentValue* value = argument(node, name);
    const auto* reference = value ? std::get_if<ValueRef>(value) : nullptr;
    return reference ? reference->id : kNone;
}

namespace {

/// Calls visit(value id, argument index) for each tensor operand.
template <typename Visitor>
void forEachOperand(const Node& node, Visitor visit) {
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
        const ArgumentValue& value = node.arguments[i].value;
        if (const auto* single = std::get_if<ValueRef>(&value)) {
            if (single->id != kNone)
                visit(single->id, static_cast<std::int32_t>(i));
        } else if (const auto* list = std::get_if<std::vector<ValueRef>>(&value)) {
            for (const ValueRef& reference : *list)
                if (reference.id != kNone)
                    visit(reference.id, static_cast<std::int32_t>(i));
        }
    }
}

} // namespace

void Operands::add(ValueId value) {
    if (m_size == m_few.size())
        m_many.assign(m_few.begin(), m_few.end());
    if (m_size < m_few.size())
        m_few[m_size] = value;
    else
        m_many.push_back(value);
    ++m_size;
}

Operands operands(const Node& node) {
    Operands result;
    forEachOperand(node, [&](ValueId id, std::int32_t) { result.add(id); });
    return result;
}

Users::Users(const Graph& graph) : m_begins(graph.values.size() + 1) {
    const auto forEachUse = [&](auto visit) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            forEachOperand(graph.nodes[i], [&](ValueId id, std::int32_t argument) {
                visit(id, Use{static_cast<NodeId>(i), argument});
            });
        for (std::size_t i = 0; i < graph.outputs.size(); ++i)
            visit(graph.outputs[i], Use{kNone, static_cast<std::int32_t>(i)});
    };
    forEachUse([&](ValueId id, Use) { ++m_begins[static_cast<std::size_t>(id) + 1]; });
    std::partial_sum(m_begins.begin(), m_begins.end(), m_begins.begin());
    m_uses.resize(m_begins.back());
    std::vector<std::size_t> next(m_begins.begin(), m_begins.end() - 1);
    forEachUse([&](ValueId id, Use use) { m_uses[next[static_cast<std::size_t>(id)]++] = use; });
}

} // namespace workbench
