#pragma once

#include "fusion/match/search.h"

#include <initializer_list>
#include <string_view>

namespace workbench {

/// True when the node is one of the fused ops: the site is present already. Its arguments that are not
/// tensors become facts; of tensors that may be absent the fact says whether they are there.
bool matchPresent(Search& search, NodeId node, std::string_view role,
                  std::initializer_list<std::string_view> ops);

} // namespace workbench
