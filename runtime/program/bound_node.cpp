#include "runtime/program/bound_node.h"

#include "runtime/ops/checks.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/moe.h"
#include "runtime/program/argument_binding.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace workbench {
namespace {

using Slot = BoundNode::Slot;

/// "aten.add.Tensor" is overload "Tensor" of "aten::add"; "workbench.rms_norm" and "aten.silu.default" are
/// overload "".
std::optional<c10::OperatorName> operatorName(std::string_view op) {
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos)
        return std::nullopt;
    const std::size_t second = op.find('.', first + 1);
    std::string name =
        std::string(op.substr(0, first)) + "::" + std::string(op.substr(first + 1, second - first - 1));
    std::string overload = second == std::string_view::npos ? "" : std::string(op.substr(second + 1));
    if (overload == "default")
        overload.clear();
    return c10::OperatorName(std::move(name), std::move(overload));
}

Error nodeError(const Graph& graph, NodeId node, const std::string& detail) {
    return Error{ErrorCode::badInput, describeNode(graph, node) + " " + detail, graph.node(node).op};
}

/// Every argument of the node must be one of the schema's: a misspelt name would silently become a default.
Status checkNames(const Graph& graph, NodeId node, const c10::FunctionSchema& schema) {
    for (const Argument& given : graph.node(node).arguments)
        if (!schema.argumentIndexWithName(given.name))
            return nodeError(graph, node,
                             "has an argument '" + given.name +
                                 "' that the operator does not have: " + c10::toString(schema) + ".");
    return Ok{};
}

Status bindArguments(const Graph& graph, NodeId node, SymTable& symbols, c10::Device device,
                     BoundNode& bound) {
    const c10::FunctionSchema& schema = bound.op.schema();
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
        const c10::Argument& wanted = schema.arguments()[i];
        const ArgumentValue* given = argument(graph.node(node), wanted.name());
        if (!given && !wanted.default_value())
            return nodeError(graph, node, "lacks the argument '" + wanted.name() + "'.");
        if (!given) {
            bound.arguments.push_back(*wanted.default_value());
            continue;
        }
        auto binding = bindArgument(*given, *wanted.real_type(), symbols, device);
        if (!binding)
            return nodeError(graph, node,
                             "cannot be called: argument '" + wanted.name() + "' " + binding.error().message);
        if (binding->slot) {
            binding->slot->argument = i;
            bound.slots.push_back(std::move(*binding->slot));
        }
        bound.arguments.push_back(std::move(binding->constant));
    }
    return Ok{};
}

c10::IValue integerList(const Slot& slot, const SymTable& symbols) {
    c10::List<std::int64_t> list;
    list.reserve(slot.integers.size());
    for (const std::int32_t index : slot.integers)
        list.push_back(symbols.value(index));
    return list;
}

template <typename List>
c10::IValue tensorList(const Slot& slot, std::vector<at::Tensor>& values) {
    List list;
    list.reserve(slot.values.size());
    for (const ValueId id : slot.values)
        list.push_back(id == kNone ? typename List::value_type{}
                                   : typename List::value_type{values[static_cast<std::size_t>(id)]});
    for (std::size_t i = 0; i < slot.values.size(); ++i)
        if (slot.values[i] != kNone && slot.last[i])
            values[static_cast<std::size_t>(slot.values[i])] = at::Tensor();
    return list;
}

c10::IValue slotValue(const Slot& slot, const SymTable& symbols, std::vector<at::Tensor>& values) {
    switch (slot.kind) {
    case Slot::Kind::tensor: {
        at::Tensor& value = values[static_cast<std::size_t>(slot.values[0])];
        return slot.last[0] ? c10::IValue(std::move(value)) : c10::IValue(value);
    }
    case Slot::Kind::tensorList:
        return tensorList<c10::List<at::Tensor>>(slot, values);
    case Slot::Kind::optionalTensorList:
        return tensorList<c10::List<std::optional<at::Tensor>>>(slot, values);
    case Slot::Kind::integer:
        return symbols.value(slot.integers[0]);
    case Slot::Kind::integerList:
        return integerList(slot, symbols);
    case Slot::Kind::integerTensor:
        return at::native::wrapped_scalar_tensor(symbols.value(slot.integers[0]));
    }
    __builtin_unreachable();
}

bool isOperator(const BoundNode& node, const char* name) {
    return node.op.operator_name().name == name && node.op.operator_name().overload_name.empty();
}
bool isProduct(const BoundNode& node) {
    return isOperator(node, "aten::linear");
}
bool isExperts(const BoundNode& node) {
    return isOperator(node, "workbench::moe_experts");
}
/// weight[indices] with one tensor of indices.
bool isPick(const BoundNode& node) {
    const auto isOneIndex = [](const Slot& slot) {
        return slot.kind == Slot::Kind::optionalTensorList && slot.values.size() == 1 &&
               slot.values[0] != kNone;
    };
    return node.op.operator_name().name == "aten::index" &&
           node.op.operator_name().overload_name == "Tensor" &&
           std::any_of(node.slots.begin(), node.slots.end(), isOneIndex);
}

/// Where the schemas have weights: linear(input, weight, bias), embedding(weight, indices, ...), index(self,
/// indices), moe_experts(hidden, routing_weights, indices, gate_up, down, ...).
constexpr std::size_t kGateUp = 3, kDown = 4;
std::size_t weightArgument(const BoundNode& node) {
    return isExperts(node) ? kGateUp : isProduct(node) ? 1 : 0;
}

/// A weight that a program packed, or that something else reads as it is.
ops::PackedWeight packedOr(const std::shared_ptr<const ops::PackedWeight>& packed, const c10::IValue& plain) {
    return packed ? *packed : ops::PackedWeight::of(plain.toTensor());
}

at::Tensor callExperts(const BoundNode& node, const torch::jit::Stack& stack) {
    const ops::MoeArgs args{stack[0].toTensor(), stack[1].toTensor(), stack[2].toTensor(),
                            ops::parseActivation("moe_experts", stack[5].toStringView())};
    return ops::moeExperts(args, packedOr(node.packed, stack[kGateUp]),
                           packedOr(node.packedDown, stack[kDown]));
}

} // namespace

std::vector<ValueId> BoundNode::inputs() const {
    std::vector<ValueId> all;
    for (const Slot& slot : slots)
        for (const ValueId id : slot.values)
            if (id != kNone)
                all.push_back(id);
    return all;
}

void BoundNode::usePacked(ValueId value, std::shared_ptr<const ops::PackedWeight> weight) {
    for (const std::size_t argument : {weightArgument(*this), kDown}) {
        const auto isWeight = [&](const Slot& slot) {
            return slot.values.size() == 1 && slot.values[0] == value && slot.argument == argument;
        };
        if (std::erase_if(slots, isWeight) == 0)
            continue;
        (argument == kDown ? packedDown : packed) = std::move(weight);
        return;
    }
}

void BoundNode::keepAll() {
    unused.clear();
    for (Slot& slot : slots)
        slot.last.assign(slot.values.size(), false);
}

void BoundNode::dropLast(std::vector<at::Tensor>& values) const {
    for (const Slot& slot : slots)
        for (std::size_t i = 0; i < slot.values.size(); ++i)
            if (slot.last[i] && slot.values[i] != kNone)
                values[static_cast<std::size_t>(slot.values[i])].reset();
}

std::string describeNode(const Graph& graph, NodeId node) {
    const Node& it = graph.node(node);
    std::string text = it.op;
    std::string place = it.outputs.empty() ? "" : "%" + graph.value(it.outputs[0]).name;
    if (const std::string_view module = graph.modulePath(node); !module.empty())
        place += (place.empty() ? "in " : " in ") + std::string(module);
    if (const SourceFrame* frame = graph.sourceFrame(node))
        place += (place.empty() ? "" : ", ") + frame->file + ":" + std::to_string(frame->line);
    return place.empty() ? text : text + " (" + place + ")";
}

Result<BoundNode> bindNode(const Graph& graph, NodeId node, SymTable& symbols, c10::Device device) {
    const auto name = operatorName(graph.node(node).op);
    auto handle = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
    if (!handle)
        return nodeError(graph, node,
                         "cannot be run: neither LibTorch nor the workbench has an operator of that name.");
    BoundNode bound{.node = node, .op = *handle, .outputs = graph.node(node).outputs};
    const c10::FunctionSchema& schema = handle->schema();
    if (schema.is_mutable())
        return nodeError(
            graph, node,
            "cannot be run: the operator changes its argument in place, and the graph must be functional.");
    bound.foldable = !handle->hasTag(at::Tag::nondeterministic_seeded) && !bound.outputs.empty();
    if (auto names = checkNames(graph, node, schema); !names)
        return names.error();
    if (auto done = bindArguments(graph, node, symbols, device, bound); !done)
        return done.error();
    return bound;
}

void pushArguments(const BoundNode& node, const SymTable& symbols, std::vector<at::Tensor>& values,
                   torch::jit::Stack& stack) {
    stack.assign(node.arguments.begin(), node.arguments.end());
    for (const Slot& slot : node.slots)
        stack[slot.argument] = slotValue(slot, symbols, values);
}

void callPacked(const BoundNode& node, torch::jit::Stack& stack) {
    at::Tensor output;
    if (isProduct(node))
        output = ops::linear(stack[0].toTensor(), *node.packed, stack[2].toOptional<at::Tensor>());
    else if (isExperts(node))
        output = callExperts(node, stack);
    else if (isPick(node))
        output = ops::pickExperts(*node.packed, stack[1].toOptionalTensorVector()[0].value());
    else
        output = ops::embedding(*node.packed, stack[1].toTensor());
    stack.clear();
    stack.emplace_back(std::move(output));
}

Status popResults(const BoundNode& node, torch::jit::Stack& stack, std::vector<at::Tensor>& values) {
    std::size_t next = 0;
    const auto take = [&](at::Tensor tensor) {
        if (next < node.outputs.size())
            values[static_cast<std::size_t>(node.outputs[next])] = std::move(tensor);
        ++next;
    };
    for (c10::IValue& result : stack) {
        if (result.isTensor()) {
            take(std::move(result).toTensor());
        } else if (result.isTensorList()) {
            for (at::Tensor& tensor : std::move(result).toTensorVector())
                take(std::move(tensor));
        } else {
            return Error{
                ErrorCode::runtimeFailed, "returned a " + result.tagKind() + ", which is not a tensor.", {}};
        }
    }
    stack.clear();
    if (next != node.outputs.size())
        return Error{ErrorCode::runtimeFailed,
                     "returned " + std::to_string(next) + " tensors, but the graph has " +
                         std::to_string(node.outputs.size()) + " for it.",
                     {}};
    return Ok{};
}

} // namespace workbench
