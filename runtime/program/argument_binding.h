#pragma once

#include "runtime/program/bound_node.h"

#include <ATen/core/jit_type.h>

#include <optional>

namespace workbench {

/// One argument for a call: a constant, or a slot whose value each run brings (then `constant` is None).
struct ArgumentBinding {
    c10::IValue constant;
    std::optional<BoundNode::Slot> slot;
};

/// Turns a graph's argument into what the schema's `type` wants: numbers become wrapped scalar tensors where
/// a tensor is wanted, a single integer a list, dtype, layout, device and memory format their enums, as
/// PyTorch's own argument parser does; a device, whichever it is, becomes `device`. The Error's message
/// completes "argument 'dim' ...".
Result<ArgumentBinding> bindArgument(const ArgumentValue& value, const c10::Type& type, SymTable& symbols,
                                     c10::Device device);

} // namespace workbench
