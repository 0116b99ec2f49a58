#include "runtime/program/picked_rows.h"

#include "core/graph/op_classes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace workbench {
namespace {

/// Along the last dimension, which is not the tokens'.
constexpr std::array<std::string_view, 7> kAlongRows{
    "aten.linear.default",
    "workbench.rms_norm",
    "workbench.add_rms_norm",
    "workbench.act_and_mul",
    "aten.rms_norm.default",
    "aten.layer_norm.default",
    "aten.native_layer_norm.default",
};
/// The same with a `dim` that says so.
constexpr std::array<std::string_view, 6> kAlongDim{
    "aten.mean.dim",     "aten.softmax.int",   "aten.split_with_sizes.default",
    "aten.split.Tensor", "aten.chunk.default", "aten.slice.Tensor",
};
/// [1, T, ...] to [1, T, ...]: the first dimension is 1, so that the tokens' rows stay whole.
constexpr std::array<std::string_view, 2> kReshapes{"aten.view.default", "aten.reshape.default"};

template <std::size_t kCount>
bool isOneOf(std::string_view op, const std::array<std::string_view, kCount>& ops) {
    return std::ranges::find(ops, op) != ops.end();
}

std::size_t at(ValueId id) {
    return static_cast<std::size_t>(id);
}

bool isBareSymbol(const SymInt& size) {
    const auto symbols = size.symbols();
    return symbols.size() == 1 && symbols[0] == size.text();
}

/// [1, tokens, ...] with constant sizes behind.
bool hasRows(const SymShape& shape, const SymInt& tokens) {
    return shape.size() >= 3 && shape[0] == SymInt(1) && shape[1] == tokens &&
           std::all_of(shape.begin() + 2, shape.end(), [](const SymInt& size) { return size.isConstant(); });
}

/// `index(from [1, T, ...], [none, rows])` with an input `rows` [L] of the graph.
struct Pick {
    ValueId from = kNone;
    ValueId rows = kNone;
    SymInt tokens; ///< T
    SymInt count;  ///< L
};

std::optional<Pick> pickOf(const Graph& graph, const Node& node) {
    const auto* indices = argument(node, "indices");
    const auto* list = indices ? std::get_if<std::vector<ValueRef>>(indices) : nullptr;
    if (node.op != "aten.index.Tensor" || !list || list->size() != 2 || list->at(0).id != kNone)
        return std::nullopt;
    Pick pick{.from = operand(node, "self"), .rows = list->at(1).id, .tokens = {}, .count = {}};
    const Input* input = pick.rows == kNone ? nullptr : graph.inputOf(pick.rows);
    if (!input || input->kind != Input::Kind::user || pick.from == kNone)
        return std::nullopt;
    const TensorMeta& rows = graph.value(pick.rows).meta;
    const SymShape& shape = graph.value(pick.from).meta.shape;
    if (rows.dtype != ScalarType::i64 || rows.shape.size() != 1 || !isBareSymbol(rows.shape[0]) ||
        shape.size() < 3 || !isBareSymbol(shape[1]) || shape[1] == rows.shape[0] || !hasRows(shape, shape[1]))
        return std::nullopt;
    pick.tokens = shape[1];
    pick.count = rows.shape[0];
    return pick;
}

/// Moves picks with the same rows.
class Mover {
public:
    Mover(Graph& graph, Pick pick) : m_graph(graph), m_pick(std::move(pick)) {}

    void run() {
        findLateNodes();
        rebuild();
    }

private:
    bool hasRowsOfTokens(ValueId id) const { return hasRows(m_graph.value(id).meta.shape, m_pick.tokens); }

    /// Without tokens: a weight, or a scalar.
    bool isAlikeForAll(ValueId id) const {
        const SymShape& shape = m_graph.value(id).meta.shape;
        return std::ranges::all_of(shape, [](const SymInt& size) { return size.isConstant(); });
    }

    static bool isLastDim(const Node& node, std::size_t rank) {
        const auto last = static_cast<std::int64_t>(rank) - 1;
        const auto* dim = argument(node, "dim");
        const auto* list = dim ? std::get_if<std::vector<SymInt>>(dim) : nullptr;
        const auto* one = dim ? std::get_if<SymInt>(dim) : nullptr;
        if (list && list->size() == 1)
            one = &list->front();
        return one && (*one == SymInt(-1) || *one == SymInt(last));
    }

    /// A norm over given sizes is one over all that follows the tokens at most.
    static bool isNormOfConstantSize(const Node& node, std::size_t rank) {
        const auto* shape = argument(node, "normalized_shape");
        const auto* sizes = shape ? std::get_if<std::vector<SymInt>>(shape) : nullptr;
        return !shape || (sizes && sizes->size() + 2 <= rank &&
                          std::ranges::all_of(*sizes, [](const SymInt& size) { return size.isConstant(); }));
    }

    /// Whether every row of its outputs follows from the same row of its operands.
    bool treatsTokensAlone(const Node& node) const {
        const auto inputs = operands(node);
        if (inputs.empty() ||
            !std::ranges::all_of(node.outputs, [&](ValueId id) { return hasRowsOfTokens(id); }) ||
            !std::ranges::all_of(inputs,
                                 [&](ValueId id) { return hasRowsOfTokens(id) || isAlikeForAll(id); }))
            return false;
        const std::size_t rank = m_graph.value(inputs.front()).meta.shape.size();
        return isElementwise(baseName(node.op)) || isOneOf(node.op, kReshapes) ||
               (isOneOf(node.op, kAlongRows) && hasRowsOfTokens(inputs.front()) &&
                isNormOfConstantSize(node, rank)) ||
               (isOneOf(node.op, kAlongDim) && isLastDim(node, rank));
    }

    void findLateNodes() {
        const Users users(m_graph);
        m_late.resize(m_graph.nodes.size());
        m_isPick.resize(m_graph.nodes.size());
        for (std::size_t i = m_graph.nodes.size(); i-- > 0;) {
            const Node& node = m_graph.nodes[i];
            const auto pick = pickOf(m_graph, node);
            m_isPick[i] = pick && pick->rows == m_pick.rows && pick->tokens == m_pick.tokens;
            const auto isReadLate = [&](const Use& use) {
                return use.node != kNone && (m_late[at(use.node)] || m_isPick[at(use.node)]);
            };
            const bool late = !node.outputs.empty() && std::ranges::all_of(node.outputs, [&](ValueId id) {
                return std::ranges::all_of(users.of(id), isReadLate);
            });
            m_late[i] = late && treatsTokensAlone(node);
        }
    }

    void rebuild() {
        std::vector<Node> nodes;
        nodes.swap(m_graph.nodes);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (m_isPick[i])
                makeView(nodes[i]);
            else if (m_late[i])
                makeLate(nodes[i]);
            for (const ValueId id : nodes[i].outputs)
                m_graph.values[at(id)].producer = static_cast<NodeId>(m_graph.nodes.size());
            m_graph.nodes.push_back(std::move(nodes[i]));
        }
    }

    /// A pick of what a late node made has nothing left to do, but that its output is contiguous.
    void makeView(Node& pick) {
        const ValueId from = operand(pick, "self");
        if (hasRowsOfTokens(from))
            return;
        const std::string& op = m_graph.node(m_graph.value(from).producer).op;
        if (isOneOf(op, kAlongDim) || isOneOf(op, kReshapes)) { // which may be a view of other memory
            pick.op = "aten.clone.default";
            pick.arguments = {{"self", ValueRef{from}},
                              {"memory_format", Keyword{Keyword::Kind::memoryFormat, "contiguous_format"}}};
            return;
        }
        pick.op = "aten.view.default";
        pick.arguments = {{"self", ValueRef{from}}, {"size", m_graph.value(pick.outputs[0]).meta.shape}};
    }

    void useRows(ArgumentValue& value) {
        const auto one = [&](ValueRef& reference) {
            if (reference.id != kNone && hasRowsOfTokens(reference.id))
                reference.id = rowsOf(reference.id);
        };
        if (auto* reference = std::get_if<ValueRef>(&value))
            one(*reference);
        else if (auto* list = std::get_if<std::vector<ValueRef>>(&value))
            std::ranges::for_each(*list, one);
    }

    /// The rows of a value that has all tokens: picked where a node needs them first.
    ValueId rowsOf(ValueId id) {
        if (const auto known = m_rowsOf.find(id); known != m_rowsOf.end())
            return known->second;
        TensorMeta meta = m_graph.value(id).meta;
        meta.shape[1] = m_pick.count;
        const NodeId node = m_graph.addNode(
            "aten.index.Tensor",
            {{"self", ValueRef{id}}, {"indices", std::vector<ValueRef>{{kNone}, {m_pick.rows}}}},
            {{newName(m_graph.value(id).name + "_rows"), std::move(meta)}});
        return m_rowsOf[id] = m_graph.node(node).outputs[0];
    }

    std::string newName(std::string name) const {
        while (std::ranges::find(m_graph.values, name, &Value::name) != m_graph.values.end())
            name += '_';
        return name;
    }

    void makeLate(Node& node) {
        for (Argument& given : node.arguments)
            useRows(given.value);
        for (const ValueId id : node.outputs)
            m_graph.values[at(id)].meta.shape[1] = m_pick.count;
        if (!isOneOf(node.op, kReshapes))
            return;
        // All sizes are known but that of the rows, which may be 0: then no size can be left to be found.
        const std::string_view name = node.op == "aten.view.default" ? "size" : "shape";
        for (Argument& given : node.arguments)
            if (given.name == name)
                given.value = std::vector<SymInt>(m_graph.value(node.outputs[0]).meta.shape);
    }

    Graph& m_graph;
    Pick m_pick;
    std::vector<bool> m_late;            ///< by NodeId of the graph as it was
    std::vector<bool> m_isPick;          ///< likewise
    std::map<ValueId, ValueId> m_rowsOf; ///< of values with all tokens
};

} // namespace

Graph pickRowsEarly(Graph graph) {
    for (const Node& node : graph.nodes)
        if (auto pick = pickOf(graph, node)) {
            Mover(graph, std::move(*pick)).run();
            break;
        }
    return graph;
}

} // namespace workbench
