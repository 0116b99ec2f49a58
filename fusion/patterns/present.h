#pragma once

#include "fusion/match/search.h"

#include <initializer_list>
#include <string_view>

namespace workbench {

/// Does the op (by base name) do the pattern's work: its own fused op, or that of a larger pattern that
/// contains it?
bool isFusedOp(std::string_view op, std::string_view pattern);

/// True when the node is such an op: the site is present already. Its arguments that are not tensors become
/// facts; of the tensors in `optional`, which may be absent, the fact says whether they are there.
bool matchPresent(Search& search, NodeId node, std::string_view role, std::string_view pattern,
                  std::initializer_list<std::string_view> optional = {});

} // namespace workbench
