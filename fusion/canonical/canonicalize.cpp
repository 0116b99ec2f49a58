#include "core/graph/op_kinds.h"
#include "core/graph/verify.h"
#include "fusion/canonical/draft.h"
#include "fusion/fusion.h"

namespace workbench {
namespace {

bool mutates(const Node& node) {
    return isMutation(node.op) || argument(node, "out");
}

std::string place(const Graph& graph, NodeId id) {
    std::string text(graph.modulePath(id));
    if (const SourceFrame* frame = graph.sourceFrame(id))
        text += (text.empty() ? "" : ", ") + frame->file + ":" + std::to_string(frame->line);
    return text;
}

Error mutation(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const std::string value =
        node.outputs.empty() ? std::string() : " (%" + graph.value(node.outputs.front()).name + ")";
    return {ErrorCode::badInput,
            node.op + value +
                " writes into its input, which the graph cannot express: export the model with "
                "run_decompositions(), or change that line to make a new tensor.",
            place(graph, id)};
}

/// Ops whose result depends on how their input lies in memory. The graph has no strides, and its canonical
/// form drops the copies that made them.
bool readsByStrides(std::string_view op) {
    return op.starts_with("aten.as_strided") || op.starts_with("aten._reshape_alias");
}

Error strided(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const std::string value =
        node.outputs.empty() ? std::string() : " (%" + graph.value(node.outputs.front()).name + ")";
    return {
        ErrorCode::badInput,
        node.op + value +
            " reads memory by strides, which the graph cannot express: change that line to a view, slice or "
            "unfold.",
        place(graph, id)};
}

using Map = std::vector<ValueId>;

void mapOperands(Node& node, const Map& map) {
    for (Argument& argument : node.arguments) {
        if (auto* single = std::get_if<ValueRef>(&argument.value)) {
            if (single->id != kNone)
                single->id = map[static_cast<std::size_t>(single->id)];
        } else if (auto* list = std::get_if<std::vector<ValueRef>>(&argument.value)) {
            for (ValueRef& reference : *list)
                if (reference.id != kNone)
                    reference.id = map[static_cast<std::size_t>(reference.id)];
        }
    }
}

std::vector<bool> liveNodes(const Graph& graph) {
    std::vector<bool> live(graph.nodes.size());
    const auto mark = [&](ValueId value) {
        if (const NodeId producer = graph.value(value).producer; producer != kNone)
            live[static_cast<std::size_t>(producer)] = true;
    };
    for (const ValueId output : graph.outputs)
        mark(output);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        live[i] = live[i] || graph.nodes[i].outputs.empty();
        if (live[i])
            for (const ValueId value : operands(graph.nodes[i]))
                mark(value);
    }
    return live;
}

/// The graph without dead nodes and without parameters, buffers and constants that nothing reads.
Graph compact(Graph graph) {
    const std::vector<bool> live = liveNodes(graph);
    std::vector<bool> read(graph.values.size());
    for (const ValueId output : graph.outputs)
        read[static_cast<std::size_t>(output)] = true;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (live[i])
            for (const ValueId value : operands(graph.nodes[i]))
                read[static_cast<std::size_t>(value)] = true;
    Graph result;
    result.modules = std::move(graph.modules);
    result.sources = std::move(graph.sources);
    result.nodes.reserve(graph.nodes.size());
    result.values.reserve(graph.values.size());
    Map map(graph.values.size(), kNone);
    for (Input& input : graph.inputs) {
        const auto id = static_cast<std::size_t>(input.value);
        if (input.kind != Input::Kind::user && !read[id])
            continue;
        Value& value = graph.values[id];
        map[id] = result.addInput(input.kind, std::move(value.name), std::move(value.meta),
                                  std::move(input.target));
        result.inputs.back().derived = std::move(input.derived);
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (!live[i])
            continue;
        Node node = std::move(graph.nodes[i]);
        mapOperands(node, map);
        const auto id = static_cast<NodeId>(result.nodes.size());
        for (ValueId& output : node.outputs) {
            Value& value = graph.values[static_cast<std::size_t>(output)];
            const ValueId moved = result.addValue(std::move(value.name), std::move(value.meta), id);
            map[static_cast<std::size_t>(output)] = moved;
            output = moved;
        }
        result.nodes.push_back(std::move(node));
    }
    for (const ValueId output : graph.outputs)
        result.outputs.push_back(map[static_cast<std::size_t>(output)]);
    return result;
}

} // namespace

Result<Graph> canonicalize(const Graph& traced) {
    Draft draft(traced);
    Map map(traced.values.size(), kNone);
    draft.addInputs(traced, map);
    for (std::size_t i = 0; i < traced.nodes.size(); ++i) {
        const Node& node = traced.nodes[i];
        if (isAssertion(node.op))
            continue;
        if (mutates(node))
            return mutation(traced, static_cast<NodeId>(i));
        if (readsByStrides(node.op))
            return strided(traced, static_cast<NodeId>(i));
        DraftNode next;
        next.node = Node{node.op, node.arguments, {}, node.module, node.source, {static_cast<NodeId>(i)}};
        mapOperands(next.node, map);
        for (const ValueId output : node.outputs)
            next.outputs.emplace_back(traced.value(output).name, traced.value(output).meta);
        const std::vector<ValueId> made = draft.process(std::move(next));
        for (std::size_t o = 0; o < made.size(); ++o)
            map[static_cast<std::size_t>(node.outputs[o])] = made[o];
    }
    Graph graph = draft.take();
    for (const ValueId output : traced.outputs)
        graph.outputs.push_back(map[static_cast<std::size_t>(output)]);
    Graph result = compact(std::move(graph));
    if (Status status = verify(result); !status)
        return Error{status.error().code, "The canonical form broke the graph: " + status.error().message,
                     status.error().where};
    return result;
}

} // namespace workbench
