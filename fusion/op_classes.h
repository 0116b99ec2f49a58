#pragma once

#include <string_view>

/// Which torch op is what kind of op, by base name ("aten.silu"). The matcher, the coverage counts and the
/// cost estimate ask here; what a pattern makes of an op, and what is counted, they decide themselves.

namespace workbench {

/// A function of each element that a gate or a feed-forward block may have.
bool isActivation(std::string_view op);
/// Looks at the same elements in another shape, order or part.
bool isView(std::string_view op);
/// A product of matrices, one or a batch, that is no projection: "aten.matmul", "aten.bmm".
bool isMatmul(std::string_view op);
bool isSoftmax(std::string_view op);
/// torch's RMSNorm.
bool isTorchRmsNorm(std::string_view op);
/// Any of torch's norms: RMSNorm, and those that subtract a mean.
bool isTorchNorm(std::string_view op);
/// Attention in one op: torch's, or the tracer's own.
bool isFusedAttention(std::string_view op);

} // namespace workbench
