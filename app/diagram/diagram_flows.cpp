#include "app/diagram/diagram_builder.h"

#include <algorithm>

namespace workbench {
namespace {

/// More values than that beside one box become one: a list of a hundred experts' weights hides the node.
constexpr std::size_t kMostBeside = 6;

void addOnce(std::vector<std::int32_t>& list, std::int32_t entry) {
    if (std::find(list.begin(), list.end(), entry) == list.end())
        list.push_back(entry);
}

} // namespace

void DiagramBuilder::collectFlows() {
    std::vector<std::int32_t> flowOf(m_graph.values.size(), -1);
    const auto flow = [&](ValueId value) -> Flow& {
        if (flowOf[at(value)] < 0) {
            flowOf[at(value)] = static_cast<std::int32_t>(m_flows.size());
            m_flows.push_back({value});
        }
        return m_flows[at(flowOf[at(value)])];
    };
    const auto isInside = [&](ValueId value) {
        const NodeId producer = m_graph.value(value).producer;
        return producer != kNone && m_boxOfNode[at(producer)] >= 0;
    };
    for (NodeId id = 0; at(id) < m_graph.nodes.size(); ++id)
        for (const ValueId value : operands(m_graph.node(id))) {
            if (const std::int32_t user = m_boxOfNode[at(id)]; user >= 0) {
                addOnce(flow(value).to, user);
            } else if (isInside(value)) {
                flow(value).leaves = true;
                if (flow(value).outside == kNone)
                    flow(value).outside = id;
            }
        }
    for (const ValueId value : m_graph.outputs)
        if (isInside(value))
            flow(value).leaves = true;
}

void DiagramBuilder::draw(const Flow& flow) {
    const std::int32_t input = m_inputOfValue[at(flow.value)];
    if (input >= 0 && m_graph.inputs[at(input)].kind != Input::Kind::user) {
        for (const std::int32_t user : flow.to)
            if (box(user).kind == Box::Kind::node)
                addPill(Box::Role::parameter, flow.value, user);
        return;
    }
    const std::int32_t from = sourceOf(flow);
    std::vector<std::int32_t> users;
    for (const std::int32_t user : flow.to)
        if (user != from)
            users.push_back(user);
    // The first user keeps its edge, so that the value's way can be followed from where it is made.
    const bool copied = static_cast<std::int64_t>(users.size()) >= m_request.copiedFrom;
    for (std::size_t i = 0; i < users.size(); ++i) {
        if (copied && i > 0)
            addPill(Box::Role::copy, flow.value, users[i]);
        else
            connect(from, users[i], flow.value);
    }
    if (flow.leaves)
        addOutput(flow, from);
}

/// The box that makes the value; one for what comes from outside.
std::int32_t DiagramBuilder::sourceOf(const Flow& flow) {
    const NodeId producer = m_graph.value(flow.value).producer;
    if (producer != kNone && m_boxOfNode[at(producer)] >= 0)
        return m_boxOfNode[at(producer)];
    Box made = valueBox(Box::Role::input, flow.value);
    if (producer != kNone && !m_graph.modulePath(producer).empty())
        made.details.push_back("from " + std::string(m_graph.modulePath(producer)));
    m_diagram.boxes.push_back(std::move(made));
    return static_cast<std::int32_t>(m_diagram.boxes.size() - 1);
}

void DiagramBuilder::addOutput(const Flow& flow, std::int32_t from) {
    Box made = valueBox(Box::Role::output, flow.value);
    if (flow.outside != kNone && !m_graph.modulePath(flow.outside).empty())
        made.details.push_back("to " + std::string(m_graph.modulePath(flow.outside)));
    m_diagram.boxes.push_back(std::move(made));
    connect(from, static_cast<std::int32_t>(m_diagram.boxes.size() - 1), flow.value);
}

Box DiagramBuilder::valueBox(Box::Role role, ValueId value) const {
    const Value& described = m_graph.value(value);
    Box made;
    made.kind = Box::Kind::value;
    made.role = role;
    made.key = (role == Box::Role::output ? "o:" : "v:") + described.name;
    made.title = titleOf(value, m_request.scope);
    made.subtitle = m_names.text(described.meta);
    made.node = described.producer;
    made.value = value;
    if (described.producer != kNone)
        made.module = m_graph.modulePath(described.producer);
    return made;
}

/// Inputs and parameters go by the name that the model gives them, relative to the module that reads them.
std::string DiagramBuilder::titleOf(ValueId value, std::string_view module) const {
    const std::int32_t input = m_inputOfValue[at(value)];
    if (input < 0 || m_graph.inputs[at(input)].target.empty())
        return m_graph.value(value).name;
    const std::string& target = m_graph.inputs[at(input)].target;
    if (isWithin(target, module) || m_graph.inputs[at(input)].kind == Input::Kind::user)
        return std::string(relativePath(target, module));
    const std::size_t last = target.rfind('.');
    const std::size_t before = last == std::string::npos || last == 0 ? last : target.rfind('.', last - 1);
    return before == std::string::npos ? target : target.substr(before + 1);
}

void DiagramBuilder::addPill(Box::Role role, ValueId value, std::int32_t beside) {
    m_pills[beside].push_back({role, value});
}

void DiagramBuilder::addPills() {
    for (const auto& [beside, pills] : m_pills) {
        const bool several = pills.size() > kMostBeside;
        for (std::size_t i = 0; i < (several ? 1 : pills.size()); ++i) {
            Box made = valueBox(pills[i].first, pills[i].second);
            const Box& user = box(beside);
            if (pills[i].first == Box::Role::parameter)
                made.title = titleOf(pills[i].second, user.module);
            made.key = "b:" + m_graph.value(pills[i].second).name + ":" + user.key;
            made.parent = user.parent;
            made.beside = beside;
            if (several) {
                made.details.push_back("from " + made.title + " on");
                made.title = std::to_string(pills.size()) + " values";
            }
            m_diagram.boxes.push_back(std::move(made));
        }
    }
}

void DiagramBuilder::connect(std::int32_t from, std::int32_t to, ValueId value) {
    const auto [known, isNew] =
        m_edges.emplace(std::pair(from, to), static_cast<std::int32_t>(m_edges.size()));
    if (isNew) {
        m_diagram.edges.push_back({from, to, value});
        m_edgeValues.emplace_back();
    }
    m_edgeValues[at(known->second)].push_back(value);
}

void DiagramBuilder::labelEdges() {
    for (std::size_t i = 0; i < m_diagram.edges.size(); ++i) {
        const std::vector<ValueId>& values = m_edgeValues[i];
        const TensorMeta& first = m_graph.value(values.front()).meta;
        const bool alike = std::all_of(values.begin(), values.end(),
                                       [&](ValueId value) { return m_graph.value(value).meta == first; });
        const std::string count = std::to_string(values.size());
        Edge& edge = m_diagram.edges[i];
        edge.values = static_cast<std::int64_t>(values.size());
        if (values.size() == 1)
            edge.label = m_names.text(first);
        else
            edge.label = alike ? count + " × " + m_names.text(first) : count + " values";
    }
}

} // namespace workbench
