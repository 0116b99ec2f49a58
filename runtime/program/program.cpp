#include "runtime/program/program.h"

#include "runtime/ops/checks.h"
#include "runtime/program/direct_call.h"
#include "runtime/program/scalar_types.h"
#include "runtime/program/torch_edge.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace workbench {
namespace {

std::string shapeText(at::IntArrayRef sizes) {
    std::string text = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        text += (i ? ", " : "") + std::to_string(sizes[i]);
    return text + "]";
}

/// A dimension that is one symbol and nothing else; empty for any other.
std::string bareSymbol(const SymInt& size) {
    if (size.isConstant())
        return {};
    const auto symbols = size.symbols();
    return symbols.size() == 1 && symbols[0] == size.text() ? symbols[0] : std::string{};
}

/// The operator's arguments in the order of its schema.
ops::AttentionArgs attentionArgs(const torch::jit::Stack& stack) {
    const auto optional = [](const c10::IValue& value) { return value.toOptional<at::Tensor>(); };
    return {stack[0].toTensor(),
            stack[1].toTensor(),
            stack[2].toTensor(),
            stack[3].toTensor(),
            stack[4].toInt(),
            stack[5].toDouble(),
            ops::parseMask("attention", stack[6].toStringView()),
            stack[7].toInt(),
            stack[8].toDouble(),
            optional(stack[9]),
            optional(stack[10])};
}

Error cancelled() {
    return Error{ErrorCode::cancelled, "The run was cancelled.", {}};
}

bool isCancelled(const RunOptions& options) {
    return options.cancel && options.cancel->load(std::memory_order_relaxed);
}

/// Moves the value to its home in a frame, if it has one. Without the dispatcher where the two are alike.
void adopt(const at::Tensor& home, at::Tensor& value) {
    if (!home.defined())
        return;
    if (value.is_contiguous() && value.scalar_type() == home.scalar_type() && value.sizes() == home.sizes())
        std::memcpy(home.mutable_data_ptr(), value.const_data_ptr(), home.nbytes());
    else
        home.copy_(value);
    value = home;
}

} // namespace

Status Program::checkInput(const Input& input, const at::Tensor& tensor) const {
    const TensorMeta& meta = m_graph.value(input.value).meta;
    const bool fits = tensor.defined() && tensor.scalar_type() == toTorch(meta.dtype) &&
                      tensor.dim() == static_cast<std::int64_t>(meta.shape.size());
    if (fits)
        return Ok{};
    return Error{ErrorCode::runtimeFailed,
                 "Input " + input.target + " must be a tensor of " + std::string(name(meta.dtype)) +
                     " with " + std::to_string(meta.shape.size()) + " dimensions.",
                 input.target};
}

Status Program::bindSymbols(std::span<const at::Tensor> inputs) {
    if (inputs.size() != m_users.size())
        return Error{ErrorCode::runtimeFailed,
                     "The program takes " + std::to_string(m_users.size()) + " inputs, not " +
                         std::to_string(inputs.size()) + ".",
                     {}};
    SymbolBindings bindings;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (auto fits = checkInput(m_users[i], inputs[i]); !fits)
            return fits;
        const SymShape& shape = m_graph.value(m_users[i].value).meta.shape;
        for (std::size_t dim = 0; dim < shape.size(); ++dim)
            if (const std::string symbol = bareSymbol(shape[dim]); !symbol.empty())
                bindings.try_emplace(symbol, inputs[i].size(static_cast<std::int64_t>(dim)));
    }
    // Two inputs that share a symbol must agree, and constant or composed sizes must come out as the graph
    // says.
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const SymShape& shape = m_graph.value(m_users[i].value).meta.shape;
        for (std::size_t dim = 0; dim < shape.size(); ++dim) {
            auto size = shape[dim].evaluate(bindings);
            if (!size)
                return size.error();
            if (*size != inputs[i].size(static_cast<std::int64_t>(dim)))
                return Error{ErrorCode::runtimeFailed,
                             "Input " + m_users[i].target + " has shape " + shapeText(inputs[i].sizes()) +
                                 ", but dimension " + std::to_string(dim) + " must be " + shape[dim].text() +
                                 " = " + std::to_string(*size) + ".",
                             m_users[i].target};
        }
    }
    return m_symbols.bind(bindings);
}

void Program::callCached(const BoundNode& node, const RunOptions& options) {
    at::Tensor output;
    attend(attentionArgs(m_stack), node.attention, options, output);
    m_stack.clear();
    m_stack.emplace_back(std::move(output));
}

Status Program::callOperator(const BoundNode& node, const RunOptions& options,
                             std::vector<at::Tensor>& values) {
    pushArguments(node, m_symbols, values, m_stack);
    if ((options.cache || options.paged) && node.attention != kNone)
        callCached(node, options);
    else if (node.packed || node.packedDown)
        callPacked(node, m_stack);
    else
        node.op.callBoxed(m_stack);
    auto popped = popResults(node, m_stack, values);
    if (!popped)
        return Error{
            popped.error().code, describeNode(m_graph, node.node) + " " + popped.error().message, {}};
    return Ok{};
}

Status Program::callNode(const BoundNode& node, const RunOptions& options, std::vector<at::Tensor>& values) {
    if (!node.direct)
        return callOperator(node, options, values);
    node.direct.call(values, m_symbols, options);
    return Ok{};
}

Status Program::runOne(const BoundNode& node, const RunOptions& options, std::vector<at::Tensor>& values) {
    if (auto called = callNode(node, options, values); !called)
        return called;
    if (node.direct)
        node.dropLast(values);
    if (options.observe)
        for (const ValueId id : node.outputs)
            if (auto seen = options.observe(id, values[static_cast<std::size_t>(id)]); !seen)
                return seen;
    for (const ValueId id : node.unused)
        values[static_cast<std::size_t>(id)] = at::Tensor();
    return Ok{};
}

template <class Call>
Status Program::timed(const BoundNode& node, const RunOptions& options, const Call& call) {
    if (!options.nodeSeconds)
        return call();
    const auto start = std::chrono::steady_clock::now();
    Status done = call();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    (*options.nodeSeconds)[static_cast<std::size_t>(node.node)] += seconds.count();
    return done;
}

Status Program::runNodeByNode(std::vector<at::Tensor>& values, const RunOptions& options) {
    const BoundNode* current = nullptr;
    try {
        for (const BoundNode& node : m_nodes) {
            if (isCancelled(options))
                return cancelled();
            current = &node;
            if (auto done = timed(node, options, [&] { return runOne(node, options, values); }); !done)
                return done;
        }
    } catch (...) {
        m_stack.clear();
        return describeException(std::current_exception(), describeNode(m_graph, current->node));
    }
    return Ok{};
}

Status Program::runStep(const FramePlan::Step& step, const DirectCall::Function& prepared,
                        const RunOptions& options, RunFrame& frame) {
    const BoundNode& node = m_nodes[static_cast<std::size_t>(step.node)];
    if (prepared) {
        prepared(frame.values, m_symbols, options);
    } else if (auto called = callNode(node, options, frame.values); !called) {
        return called;
    }
    for (const std::int32_t index : step.adopt)
        adopt(
            frame.homes[static_cast<std::size_t>(index)],
            frame.values[static_cast<std::size_t>(m_frames.plan().adopted[static_cast<std::size_t>(index)])]);
    for (const ValueId id : step.drop)
        frame.values[static_cast<std::size_t>(id)] = at::Tensor();
    return Ok{};
}

/// The plan's values for all of `positions`, by its nodes.
std::vector<at::Tensor> Program::positionRows(const at::Tensor& positions) {
    std::vector<at::Tensor> values = m_constants;
    values[static_cast<std::size_t>(m_positionPlan.positions)] = positions;
    for (const std::int32_t index : m_positionPlan.nodes) {
        BoundNode node = m_nodes[static_cast<std::size_t>(index)];
        node.keepAll();
        if (auto done = runOne(node, {}, values); !done)
            TORCH_CHECK(false, done.error().message);
    }
    std::vector<at::Tensor> rows;
    for (const ValueId id : m_positionPlan.rows)
        rows.push_back(values[static_cast<std::size_t>(id)]);
    return rows;
}

/// False where the nodes of the position plan have to run.
Result<bool> Program::fillPositionRows(RunFrame& frame) {
    if (m_positionPlan.rows.empty())
        return false;
    const at::Tensor positions = frame.values[static_cast<std::size_t>(m_positionPlan.positions)];
    if (!positions.is_cpu() || !positions.is_contiguous())
        return false;
    return guarded("Computing what depends on the tokens' positions alone", [&]() -> Result<bool> {
        if (!m_positionRows.cover(positions, [&](const at::Tensor& all) { return positionRows(all); }))
            return false;
        const std::vector<ValueId>& adopted = m_frames.plan().adopted;
        for (std::size_t i = 0; i < m_positionPlan.rows.size(); ++i) {
            const ValueId id = m_positionPlan.rows[i];
            const auto home = std::ranges::find(adopted, id);
            frame.values[static_cast<std::size_t>(id)] = m_positionRows.gather(
                i, positions,
                home == adopted.end() ? at::Tensor()
                                      : frame.homes[static_cast<std::size_t>(home - adopted.begin())]);
        }
        return true;
    });
}

Status Program::runSteps(RunFrame& frame, const RunOptions& options) {
    const std::vector<FramePlan::Step>& steps = m_frames.plan().steps;
    auto hasRows = fillPositionRows(frame);
    if (!hasRows)
        return hasRows.error();
    const BoundNode* current = nullptr;
    try {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (isCancelled(options))
                return cancelled();
            if (*hasRows && m_positionPlan.isNode[static_cast<std::size_t>(steps[i].node)])
                continue;
            current = &m_nodes[static_cast<std::size_t>(steps[i].node)];
            if (auto done = timed(*current, options,
                                  [&] { return runStep(steps[i], frame.prepared[i], options, frame); });
                !done)
                return done;
        }
    } catch (...) {
        m_stack.clear();
        return describeException(std::current_exception(), describeNode(m_graph, current->node));
    }
    return Ok{};
}

Result<std::vector<at::Tensor>> Program::runInFrame(RunFrame& frame, std::span<const at::Tensor> inputs,
                                                    const RunOptions& options) {
    setInputs(inputs, frame.values);
    if (auto done = runSteps(frame, options); !done) {
        m_frames.forget(m_symbols.bindings());
        return done.error();
    }
    std::vector<at::Tensor> outputs = outputsOf(frame.values);
    const auto empty = [&](ValueId id) {
        frame.values[static_cast<std::size_t>(id)] = m_constants[static_cast<std::size_t>(id)];
    };
    for (const Input& input : m_users)
        empty(input.value);
    for (const ValueId id : m_graph.outputs)
        empty(id);
    return outputs;
}

Result<std::vector<at::Tensor>> Program::runFreshly(std::span<const at::Tensor> inputs,
                                                    const RunOptions& options) {
    std::vector<at::Tensor> values = m_constants;
    setInputs(inputs, values);
    if (auto done = runNodeByNode(values, options); !done)
        return done.error();
    return outputsOf(values);
}

Result<std::vector<at::Tensor>> Program::runAll(std::span<const at::Tensor> inputs,
                                                const RunOptions& options) {
    const c10::InferenceMode inference;
    if (options.observe || m_frames.isEmpty()) // an observer may keep what it sees
        return runFreshly(inputs, options);
    auto frame = guarded("Laying out the values of a run", [&]() -> Result<RunFrame*> {
        return m_frames.find(m_symbols, m_constants, m_nodes);
    });
    if (!frame)
        return frame.error();
    if (*frame)
        return runInFrame(**frame, inputs, options);
    RunFrames::Recorder seen(m_frames.plan());
    RunOptions watched = options;
    watched.observe = [&](ValueId id, const at::Tensor& value) -> Status {
        seen.see(id, value);
        return Ok{};
    };
    auto outputs = runFreshly(inputs, watched);
    if (outputs)
        m_frames.add(m_symbols.bindings(), std::move(seen));
    return outputs;
}

void Program::setInputs(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& values) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
        values[static_cast<std::size_t>(m_users[i].value)] = inputs[i];
}

std::vector<at::Tensor> Program::outputsOf(const std::vector<at::Tensor>& values) const {
    std::vector<at::Tensor> outputs;
    for (const ValueId id : m_graph.outputs)
        outputs.push_back(values[static_cast<std::size_t>(id)]);
    return outputs;
}

Result<std::vector<at::Tensor>> Program::run(std::span<const at::Tensor> inputs, const RunOptions& options) {
    const c10::DeviceGuard device(m_placement.device); // kernels take the current device's stream
    if (auto bound = bindSymbols(inputs); !bound)
        return bound.error();
    return runAll(inputs, options);
}

Status Program::giveOperands(const BoundNode& node, const Given& given, std::vector<at::Tensor>& values) {
    for (const ValueId id : node.inputs()) {
        at::Tensor& value = values[static_cast<std::size_t>(id)];
        if (value.defined())
            continue;
        const std::string& name = m_graph.value(id).name;
        const at::Tensor* tensor = given(name);
        if (!tensor)
            return Error{ErrorCode::runtimeFailed,
                         describeNode(m_graph, node.node) + " needs %" + name +
                             ", which is neither an input of the site nor made by it.",
                         name};
        value = *tensor;
    }
    return Ok{};
}

Result<std::vector<at::Tensor>> Program::runNodes(std::span<const at::Tensor> inputs,
                                                  const std::vector<NodeId>& nodes, const Given& given,
                                                  const std::vector<ValueId>& wanted) {
    const c10::DeviceGuard device(m_placement.device);
    if (auto bound = bindSymbols(inputs); !bound)
        return bound.error();
    const c10::InferenceMode inference;
    std::vector<at::Tensor> values = m_constants;
    setInputs(inputs, values);
    const BoundNode* current = nullptr;
    std::vector<bool> made(values.size());
    try {
        for (const BoundNode& bound : m_nodes) {
            if (!std::binary_search(nodes.begin(), nodes.end(), bound.node))
                continue;
            current = &bound;
            if (auto complete = giveOperands(bound, given, values); !complete)
                return complete.error();
            BoundNode keeping = bound;
            keeping.keepAll();
            if (auto done = runOne(keeping, {}, values); !done)
                return done.error();
            for (const ValueId id : bound.outputs)
                made[static_cast<std::size_t>(id)] = true;
        }
    } catch (...) {
        m_stack.clear();
        return describeException(std::current_exception(), describeNode(m_graph, current->node));
    }
    std::vector<at::Tensor> results;
    for (const ValueId id : wanted) {
        // A value that was handed in would be compared with itself.
        if (!made[static_cast<std::size_t>(id)] && !constant(id))
            return Error{ErrorCode::runtimeFailed,
                         "The site's nodes do not make %" + m_graph.value(id).name + ".",
                         m_graph.value(id).name};
        results.push_back(values[static_cast<std::size_t>(id)]);
    }
    return results;
}

ValueId Program::find(const std::string& name) const {
    const auto place = m_byName.find(name);
    return place == m_byName.end() ? kNone : place->second;
}

const at::Tensor* Program::constant(ValueId value) const {
    const at::Tensor& tensor = m_constants[static_cast<std::size_t>(value)];
    return tensor.defined() ? &tensor : nullptr;
}

std::vector<c10::Storage> Program::storages() const {
    std::vector<c10::Storage> storages;
    for (const at::Tensor& tensor : m_constants)
        if (tensor.defined())
            storages.push_back(tensor.storage());
    return storages;
}

bool Program::isHeld(ValueId value) const {
    return constant(value) || m_packed[static_cast<std::size_t>(value)] != nullptr;
}

} // namespace workbench
