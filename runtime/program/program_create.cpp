#include "runtime/program/direct_call.h"
#include "runtime/program/program.h"
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

namespace workbench {
namespace {

/// Asserts on metadata state at run time what the graph states already.
bool isMetadataAssert(const Node& node) {
    return node.op.starts_with("aten._assert_tensor_metadata");
}

bool isAttention(const Node& node) {
    return node.op == "workbench.attention" || node.op == "workbench.attention.default";
}

} // namespace

Result<Program> Program::create(Graph graph, ParameterSource& parameters, Placement placement) {
    Program program(std::move(graph), placement);
    // First: an operator that does not exist is found before gigabytes are read.
    if (auto bound = program.bindGraph(); !bound)
        return bound.error();
    if (auto fetched = program.fetchParameters(parameters); !fetched)
        return fetched.error();
    if (auto folded = program.foldConstants(); !folded)
        return folded.error();
    if (auto prepared = program.prepareRuns(); !prepared)
        return prepared.error();
    return program;
}

Result<Program> Program::withGraph(Graph graph) const {
    Program program(std::move(graph), m_placement);
    if (auto bound = program.bindGraph(); !bound)
        return bound.error();
    std::copy(m_constants.begin(), m_constants.end(), program.m_constants.begin());
    for (std::size_t id = 0; id < m_packed.size(); ++id)
        if (m_packed[id])
            program.givePacked(static_cast<ValueId>(id), m_packed[id]);
    std::erase_if(program.m_nodes, [&](const BoundNode& node) {
        return !node.outputs.empty() &&
               std::ranges::all_of(node.outputs, [&](ValueId id) { return program.constant(id) != nullptr; });
    });
    program.m_parameterCount = m_parameterCount;
    program.m_parameterBytes = m_parameterBytes;
    if (auto prepared = program.prepareRuns(); !prepared)
        return prepared.error();
    return program;
}

/// What follows from the graph alone.
Status Program::bindGraph() {
    if (auto set = setUserInputs(); !set)
        return set;
    if (auto bound = bindNodes(); !bound)
        return bound;
    dropUnused();
    return Ok{};
}

/// What follows from the nodes that are left.
Status Program::prepareRuns() {
    markLastUses();
    if (!m_placement.direct)
        return Ok{};
    if (auto direct = makeDirectCalls(); !direct)
        return direct.error();
    m_frames = RunFrames(planFrame(m_graph, m_nodes, m_knownSymbols));
    m_positionPlan = planPositions(m_graph, m_nodes, [&](ValueId id) { return constant(id) != nullptr; });
    return Ok{};
}

/// Reads the constants of fused operators, which may be wrong.
Status Program::makeDirectCalls() {
    for (BoundNode& node : m_nodes) {
        auto made = guarded(describeNode(m_graph, node.node),
                            [&]() -> Result<DirectCall> { return directCall(node); });
        if (!made)
            return made.error();
        node.direct = std::move(*made);
    }
    return Ok{};
}

Status Program::setUserInputs() {
    for (std::size_t id = 0; id < m_graph.values.size(); ++id)
        m_byName.emplace(m_graph.values[id].name, static_cast<ValueId>(id));
    m_constants.resize(m_graph.values.size());
    m_packed.resize(m_graph.values.size());
    for (const Input& input : m_graph.inputs) {
        if (input.kind != Input::Kind::user)
            continue;
        m_users.push_back(input);
        m_userNames.push_back(m_graph.value(input.value).name);
        for (const SymInt& size : m_graph.value(input.value).meta.shape)
            for (const std::string& symbol : size.symbols())
                if (symbol == size.text())
                    m_knownSymbols.push_back(symbol);
    }
    return Ok{};
}

Status Program::bindNodes() {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        if (isMetadataAssert(m_graph.node(id)))
            continue;
        const std::size_t known = m_symbols.size();
        auto bound = bindNode(m_graph, id, m_symbols, m_placement.device);
        if (!bound)
            return bound.error();
        if (const std::string symbol = m_symbols.unknownSymbol(m_knownSymbols, known); !symbol.empty())
            return Error{ErrorCode::badInput,
                         describeNode(m_graph, id) + " has the size " + symbol +
                             ", which no input's shape gives: sizes that depend on data are not run.",
                         symbol};
        m_nodes.push_back(std::move(*bound));
    }
    return Ok{};
}

/// Removes nodes whose values nobody reads.
void Program::dropUnused() {
    const std::vector<bool> needed = neededNodes(m_graph);
    std::erase_if(m_nodes,
                  [&](const BoundNode& node) { return !needed[static_cast<std::size_t>(node.node)]; });
    std::int32_t attentions = 0;
    for (BoundNode& node : m_nodes)
        if (isAttention(m_graph.node(node.node)))
            node.attention = attentions++;
}

/// Runs every node whose operands are all constants now, and forgets it. Gemma's 1 + weight is added once,
/// not for every token.
Status Program::foldConstants() {
    const c10::DeviceGuard device(m_placement.device);
    const c10::InferenceMode inference;
    std::vector<BoundNode> remaining;
    for (BoundNode& node : m_nodes) {
        const bool symbolic = std::any_of(node.slots.begin(), node.slots.end(),
                                          [](const auto& slot) { return !slot.integers.empty(); });
        const auto inputs = node.inputs();
        const bool constants =
            std::all_of(inputs.begin(), inputs.end(), [&](ValueId id) { return constant(id) != nullptr; });
        if (symbolic || !constants || !node.foldable || node.attention != kNone) {
            remaining.push_back(std::move(node));
            continue;
        }
        const std::string what = describeNode(m_graph, node.node);
        if (auto done = guarded(what, [&] { return runOne(node, {}, m_constants); }); !done)
            return done.error();
    }
    m_nodes = std::move(remaining);
    return Ok{};
}

void Program::markLastUses() {
    std::vector<bool> usedLater(m_graph.values.size());
    for (const ValueId id : m_graph.outputs)
        usedLater[static_cast<std::size_t>(id)] = true;
    for (std::size_t id = 0; id < m_constants.size(); ++id)
        if (m_constants[id].defined())
            usedLater[id] = true;
    for (auto node = m_nodes.rbegin(); node != m_nodes.rend(); ++node) {
        for (const ValueId id : node->outputs)
            if (!usedLater[static_cast<std::size_t>(id)])
                node->unused.push_back(id);
        for (auto slot = node->slots.rbegin(); slot != node->slots.rend(); ++slot)
            for (std::size_t i = slot->values.size(); i-- > 0;) {
                const ValueId id = slot->values[i];
                if (id == kNone || usedLater[static_cast<std::size_t>(id)])
                    continue;
                slot->last[i] = true;
                usedLater[static_cast<std::size_t>(id)] = true;
            }
    }
}

Result<std::vector<AttentionShape>> Program::attentionShapes() const {
    std::vector<AttentionShape> shapes;
    for (const BoundNode& node : m_nodes) {
        if (node.attention == kNone)
            continue;
        const Node& it = m_graph.node(node.node);
        const auto refuse = [&](const std::string& why) {
            return Error{ErrorCode::runtimeFailed,
                         describeNode(m_graph, node.node) + " cannot use a KV cache: " + why,
                         {}};
        };
        if (const auto* mask = argument(it, "mask"); mask && *mask == ArgumentValue(std::string("full")))
            return refuse("its mask is full, so that earlier tokens see later ones.");
        const TensorMeta& key = m_graph.value(operand(it, "key")).meta;
        const TensorMeta& value = m_graph.value(operand(it, "value")).meta;
        for (const SymInt* size : {&key.shape[1], &key.shape[3], &value.shape[1], &value.shape[3]})
            if (!size->isConstant())
                return refuse("the size " + size->text() + " of its keys or values is not constant.");
        // A chunked mask shows at most a chunk; no window, or one that is not constant, counts as everything.
        const auto* window = argument(it, "window");
        const auto* tokens = window ? std::get_if<SymInt>(window) : nullptr;
        shapes.push_back({key.shape[1].constant(), key.shape[3].constant(), value.shape[3].constant(),
                          toTorch(key.dtype), tokens && tokens->isConstant() ? tokens->constant() : 0});
    }
    return shapes;
}

} // namespace workbench
