#include "app/diagram/diagram_builder.h"
#include "core/graph/module_path.h"

#include <algorithm>

namespace workbench {
namespace {

std::string plural(std::int64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace

DiagramBuilder::DiagramBuilder(const Graph& graph, const ModuleTree& tree, const DiagramRequest& request)
    : m_graph(graph), m_request(request), m_modules(graph, tree, request.scope), m_names(graph),
      m_allExpanded(request.expanded.contains("*")), m_inputOfValue(graph.values.size(), -1),
      m_boxOfNode(graph.nodes.size(), -1) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        m_inputOfValue[at(graph.inputs[i].value)] = static_cast<std::int32_t>(i);
}

Diagram DiagramBuilder::run() {
    m_diagram.scope = m_request.scope;
    if (m_modules.empty())
        return std::move(m_diagram);
    for (NodeId id = 0; at(id) < m_graph.nodes.size(); ++id) {
        const std::int32_t module = m_modules.moduleOf(id);
        if (module < 0)
            continue;
        const Place place = placeOf(module);
        if (place.open)
            addNode(id, place.box);
        else
            m_boxOfNode[at(id)] = place.box;
        for (std::int32_t index = place.box; index >= 0; index = box(index).parent)
            box(index).nodes.push_back(id);
    }
    describeModules();
    collectFlows();
    for (const Flow& flow : m_flows)
        draw(flow);
    addPills();
    labelEdges();
    return std::move(m_diagram);
}

bool DiagramBuilder::isExpanded(const std::string& key, std::int64_t nodes) const {
    return (m_allExpanded && nodes > 1) || m_request.expanded.contains(key);
}

const std::vector<ModuleGroup>& DiagramBuilder::groupsOf(std::int32_t module) {
    const auto known = m_groups.find(module);
    return known != m_groups.end()
               ? known->second
               : m_groups.emplace(module, m_modules.groups(module, m_request.foldedFrom)).first->second;
}

DiagramBuilder::Place DiagramBuilder::placeOf(std::int32_t module) {
    if (module == 0)
        return {};
    if (const auto known = m_places.find(module); known != m_places.end())
        return known->second;
    Place place = placeOf(m_modules[module].parent);
    if (place.open)
        place = placeBelow(place, module);
    m_places.emplace(module, place);
    return place;
}

DiagramBuilder::Place DiagramBuilder::placeBelow(Place parent, std::int32_t module) {
    for (const ModuleGroup& group : groupsOf(m_modules[module].parent)) {
        if (std::find(group.members.begin(), group.members.end(), module) == group.members.end())
            continue;
        if (group.folded()) {
            const bool open = isExpanded(group.key, static_cast<std::int64_t>(group.members.size()));
            const auto known = m_moduleBoxes.find(group.key);
            parent = {known != m_moduleBoxes.end() ? known->second : addModule(parent.box, group, true, open),
                      open};
            if (!open)
                return parent;
        }
        break;
    }
    const std::string& path = m_modules[module].path;
    const bool open = isExpanded(path, m_modules[module].nodes);
    return {addModule(parent.box, {{module}, 1, path}, false, open), open};
}

std::int32_t DiagramBuilder::addModule(std::int32_t parent, const ModuleGroup& group, bool folded,
                                       bool expanded) {
    const ScopeModule& first = m_modules[group.members.front()];
    Box made;
    made.key = "m:" + group.key;
    made.kind = Box::Kind::module;
    made.module = first.path;
    made.parent = parent;
    made.expandable = true;
    made.expanded = expanded;
    made.subtitle = first.className;
    // In an opened fold the members are told by their numbers, as everywhere else.
    std::int32_t around = parent;
    while (around >= 0 && !box(around).modules.empty())
        around = box(around).parent;
    made.title = relativePath(first.path, around < 0 ? m_request.scope : box(around).module);
    std::int64_t bytes = first.parameterBytes;
    if (folded) {
        bytes = 0;
        for (const std::int32_t member : group.members) {
            made.modules.push_back(m_modules[member].path);
            bytes += m_modules[member].parameterBytes;
        }
        made.title += "–" + std::string(lastPart(made.modules.back()));
        made.count = static_cast<std::int64_t>(group.members.size());
        if (group.period > 1)
            made.details.push_back(plural(made.count / group.period, "turn") + " of " +
                                   std::to_string(group.period));
    }
    const auto index = static_cast<std::int32_t>(m_diagram.boxes.size());
    m_parameterBytes[index] = bytes;
    m_moduleBoxes.emplace(group.key, index);
    m_diagram.boxes.push_back(std::move(made));
    return index;
}

void DiagramBuilder::addNode(NodeId id, std::int32_t parent) {
    const Node& node = m_graph.node(id);
    Box made;
    made.key = "n:" + (node.outputs.empty() ? std::to_string(id) : m_graph.value(node.outputs.front()).name);
    made.kind = Box::Kind::node;
    made.title = shortOp(node.op);
    made.details = settingsOf(node, m_graph, m_names);
    made.module = m_graph.modulePath(id);
    made.node = id;
    made.parent = parent;
    made.nodes = {id};
    m_boxOfNode[at(id)] = static_cast<std::int32_t>(m_diagram.boxes.size());
    m_diagram.boxes.push_back(std::move(made));
}

void DiagramBuilder::describeModules() {
    for (const auto& [index, bytes] : m_parameterBytes) {
        Box& made = box(index);
        if (made.nodes.size() == 1 && !made.expanded)
            describeLeafModule(made);
        else
            made.details.push_back(plural(static_cast<std::int64_t>(made.nodes.size()), "node"));
        if (bytes > 0)
            made.details.back() += " · " + bytesText(static_cast<double>(bytes));
    }
}

/// A module of one node says what that node is and which weights it reads.
void DiagramBuilder::describeLeafModule(Box& made) const {
    const Node& node = m_graph.node(made.nodes.front());
    for (const ValueId value : operands(node))
        if (const std::int32_t input = m_inputOfValue[at(value)];
            input >= 0 && m_graph.inputs[at(input)].kind != Input::Kind::user)
            made.details.push_back(titleOf(value, made.module) + " " +
                                   m_names.text(m_graph.value(value).meta));
    made.details.push_back(std::string(shortOp(node.op)));
}

Diagram buildDiagram(const Graph& graph, const ModuleTree& tree, const DiagramRequest& request) {
    return DiagramBuilder(graph, tree, request).run();
}

} // namespace workbench
