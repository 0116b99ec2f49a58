#include "app/session/inspection.h"

#include "core/graph/text.h"

#include <algorithm>
#include <map>

namespace workbench {
namespace {

bool isTensor(const ArgumentValue& value) {
    return std::holds_alternative<ValueRef>(value) || std::holds_alternative<std::vector<ValueRef>>(value);
}

/// The owner of a parameter: "model.norm" of "model.norm.weight".
std::string_view ownerOf(std::string_view target) {
    const std::size_t dot = target.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : target.substr(0, dot);
}

void once(std::vector<std::size_t>& list, std::size_t site) {
    if (std::find(list.begin(), list.end(), site) == list.end())
        list.push_back(site);
}

} // namespace

Inspection::Inspection(const Graph& graph, const Analysis& analysis)
    : m_graph(graph), m_analysis(analysis), m_users(graph), m_inputs(graph.values.size(), kNone),
      m_sites(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        m_inputs[static_cast<std::size_t>(graph.inputs[i].value)] = static_cast<std::int32_t>(i);
    const auto mark = [&](NodeId node, std::size_t site) {
        if (node != kNone)
            once(m_sites[static_cast<std::size_t>(node)], site);
    };
    for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
        const Site& site = analysis.sites[i];
        for (const NodeId node : site.nodes)
            mark(node, i);
        if (site.nodes.empty())
            for (const RoleNode& role : site.roles)
                mark(role.node, i);
        if (site.miss)
            mark(site.miss->node, i);
    }
}

std::int64_t Inspection::storedBytes(const Input& input) const {
    const TensorMeta& meta = m_graph.value(input.value).meta;
    auto bytes = static_cast<std::int64_t>(bytesPerElement(meta.dtype));
    for (const SymInt& size : meta.shape) {
        if (!size.isConstant())
            return -1;
        bytes *= size.constant();
    }
    return bytes;
}

InspectedValue Inspection::value(std::string argument, ValueId id, NodeId seenFrom) const {
    InspectedValue inspected;
    inspected.argument = std::move(argument);
    inspected.value = id;
    inspected.producer = m_graph.value(id).producer;
    if (const std::int32_t input = m_inputs[static_cast<std::size_t>(id)]; input != kNone) {
        inspected.input = &m_graph.inputs[static_cast<std::size_t>(input)];
        if (inspected.input->kind != Input::Kind::user)
            inspected.storedBytes = storedBytes(*inspected.input);
    }
    for (const Use& use : m_users.of(id)) {
        inspected.isResult = inspected.isResult || use.node == kNone;
        const bool known = !inspected.users.empty() && inspected.users.back() == use.node;
        if (use.node != kNone && use.node != seenFrom && !known)
            inspected.users.push_back(use.node);
    }
    return inspected;
}

InspectedNode Inspection::node(NodeId id) const {
    const Node& node = m_graph.node(id);
    InspectedNode inspected;
    inspected.op = node.op;
    for (const ModuleInfo& module : m_graph.modules)
        if (node.module != kNone && isWithin(m_graph.modulePath(id), module.path))
            inspected.modules.push_back(module);
    std::sort(inspected.modules.begin(), inspected.modules.end(),
              [](const ModuleInfo& a, const ModuleInfo& b) { return a.path.size() < b.path.size(); });
    for (const Argument& argument : node.arguments) {
        if (!isTensor(argument.value)) {
            inspected.attributes.emplace_back(argument.name, print(argument.value, m_graph));
            continue;
        }
        if (const auto* one = std::get_if<ValueRef>(&argument.value); one && one->id != kNone)
            inspected.inputs.push_back(value(argument.name, one->id, id));
        if (const auto* list = std::get_if<std::vector<ValueRef>>(&argument.value))
            for (std::size_t i = 0; i < list->size(); ++i)
                if ((*list)[i].id != kNone)
                    inspected.inputs.push_back(
                        value(argument.name + "[" + std::to_string(i) + "]", (*list)[i].id, id));
    }
    for (const ValueId output : node.outputs)
        inspected.outputs.push_back(value(m_graph.value(output).name, output, kNone));
    if (node.source != kNone)
        inspected.source = &m_graph.sources[static_cast<std::size_t>(node.source)];
    inspected.sites = m_sites[static_cast<std::size_t>(id)];
    return inspected;
}

InspectedModule Inspection::module(const std::string& path) const {
    InspectedModule inspected;
    inspected.module.path = path;
    for (const ModuleInfo& module : m_graph.modules) {
        if (module.path == path)
            inspected.module = module;
        else if (isWithin(module.path, path) && ownerOf(module.path) == path)
            inspected.children.push_back(module);
    }
    std::map<std::string, std::int64_t> ops;
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (m_graph.nodes[i].module == kNone ? !path.empty() : !isWithin(m_graph.modulePath(id), path))
            continue;
        ++inspected.nodes;
        ++ops[m_graph.nodes[i].op];
    }
    inspected.ops.assign(ops.begin(), ops.end());
    std::stable_sort(inspected.ops.begin(), inspected.ops.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const Input& input : m_graph.inputs) {
        if (input.kind != Input::Kind::parameter || !isWithin(ownerOf(input.target), path))
            continue;
        inspected.parameters.push_back(&input);
        const std::int64_t bytes = storedBytes(input);
        const auto width = static_cast<std::int64_t>(bytesPerElement(m_graph.value(input.value).meta.dtype));
        inspected.parameterBytes += std::max<std::int64_t>(bytes, 0);
        inspected.parameterCount += std::max<std::int64_t>(bytes, 0) / width;
    }
    for (std::size_t i = 0; i < m_analysis.sites.size(); ++i)
        if (isWithin(m_analysis.sites[i].module, path))
            inspected.sites.push_back(i);
    return inspected;
}

} // namespace workbench
