#include "fusion/match/graph_view.h"

#include "core/graph/op_classes.h"
#include "core/support/real_text.h"

namespace workbench {

std::optional<double> number(const ArgumentValue* value) {
    if (!value)
        return std::nullopt;
    if (const auto* real = std::get_if<double>(value))
        return *real;
    if (const auto* whole = std::get_if<SymInt>(value))
        return whole->isConstant() ? std::optional<double>(static_cast<double>(whole->constant()))
                                   : std::nullopt;
    return std::nullopt;
}

std::optional<std::int64_t> integer(const ArgumentValue* value) {
    const auto* whole = value ? std::get_if<SymInt>(value) : nullptr;
    return whole && whole->isConstant() ? std::optional(whole->constant()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers(const ArgumentValue* value) {
    if (const auto single = integer(value))
        return std::vector{*single};
    const auto* list = value ? std::get_if<std::vector<SymInt>>(value) : nullptr;
    if (!list)
        return std::nullopt;
    std::vector<std::int64_t> result;
    for (const SymInt& item : *list) {
        if (!item.isConstant())
            return std::nullopt;
        result.push_back(item.constant());
    }
    return result;
}

bool isAbsent(const ArgumentValue* value) {
    if (!value || std::holds_alternative<None>(*value))
        return true;
    if (const auto* flag = std::get_if<bool>(value))
        return !*flag;
    const auto* list = std::get_if<std::vector<SymInt>>(value);
    return list && list->empty();
}

std::int64_t wrapDim(std::int64_t dim, std::size_t rank) {
    return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
}

namespace {

struct Describer {
    const Graph& graph;

    std::string operator()(const None&) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const SymInt& value) const { return value.text(); }
    std::string operator()(double value) const { return realText(value); }
    std::string operator()(const std::string& value) const { return '"' + value + '"'; }
    std::string operator()(ScalarType value) const { return std::string(name(value)); }
    std::string operator()(const Keyword& value) const { return value.name; }
    std::string operator()(const ValueRef& value) const {
        return value.id == kNone ? "none" : '%' + graph.value(value.id).name;
    }
    template <typename T>
    std::string operator()(const std::vector<T>& list) const {
        std::string text = "[";
        for (std::size_t i = 0; i < list.size(); ++i) {
            text += i ? ", " : "";
            text += (*this)(static_cast<const T&>(list[i]));
        }
        return text + "]";
    }
};

} // namespace

std::string describe(const Graph& graph, const ArgumentValue* value) {
    return value ? std::visit(Describer{graph}, *value) : "none";
}

ValueId otherOperand(const GraphView& view, NodeId node, ValueId known) {
    const ValueId self = operand(view.node(node), "self");
    return self == known ? operand(view.node(node), "other") : self;
}

bool isColumns(const GraphView& view, ValueId value, ValueId whole, std::int64_t start, std::int64_t end) {
    if (view.producerOp(value) != "aten.slice")
        return false;
    const Node& slice = view.node(view.producer(value));
    const auto at = [&](std::string_view name) { return integer(argument(slice, name)); };
    const auto rank = static_cast<std::int64_t>(view.meta(whole).shape.size());
    return operand(slice, "self") == whole && at("dim") == rank - 1 && at("start") == start &&
           at("end") == end && at("step") == 1;
}

GraphView::GraphView(const Graph& graph)
    : m_graph(graph), m_users(graph), m_inputs(graph.values.size(), kNone) {
    m_ops.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes)
        m_ops.push_back(baseName(node.op));
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        m_inputs[static_cast<std::size_t>(graph.inputs[i].value)] = static_cast<std::int32_t>(i);
}

std::string_view GraphView::producerOp(ValueId value) const {
    const NodeId made = producer(value);
    return made == kNone ? std::string_view() : op(made);
}

NodeId GraphView::onlyUser(ValueId value) const {
    const std::span<const Use> all = uses(value);
    if (all.empty())
        return kNone;
    for (const Use& use : all)
        if (use.node != all.front().node)
            return kNone;
    return all.front().node;
}

const Input* GraphView::input(ValueId value) const {
    const std::int32_t index = m_inputs[static_cast<std::size_t>(value)];
    return index == kNone ? nullptr : &m_graph.inputs[static_cast<std::size_t>(index)];
}

bool GraphView::isParameter(ValueId value) const {
    const Input* found = input(value);
    return found && found->kind == Input::Kind::parameter;
}

std::string GraphView::describe(ValueId value) const {
    if (const Input* found = input(value)) {
        switch (found->kind) {
        case Input::Kind::user:
            return "input %" + m_graph.value(value).name;
        case Input::Kind::parameter:
            return "parameter " + found->target;
        case Input::Kind::buffer:
            return "buffer " + found->target;
        case Input::Kind::constant:
            return "constant " + found->target;
        }
    }
    return std::string(producerOp(value)) + " (%" + m_graph.value(value).name + ")";
}

} // namespace workbench
