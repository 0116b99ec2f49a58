#pragma once

#include "runtime/program/bound_node.h"

namespace workbench {

/// aten.index(self, [null, rows]): a language model picks the tokens whose logits are wanted. Empty for any
/// other use.
DirectCall pickCall(const BoundNode& node);

} // namespace workbench
