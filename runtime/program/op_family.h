#pragma once

#include <string_view>

namespace workbench {

/// What kind of work an operator of a graph ("aten.silu.default") is, for reports: "products", "attention",
/// "softmax", "norms", "rotary", "activations", "experts", "embedding", "copies", "views" or "elementwise".
std::string_view opFamily(std::string_view op);

} // namespace workbench
