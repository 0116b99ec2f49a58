#pragma once

#include <string_view>

/// Which op is what kind of op, by base name ("aten.silu"): the one place for the matcher, the coverage
/// counts, the cost estimate, what weights are quantised for, what programs compute once or for fewer rows,
/// and the bars of the benchmark. What a pattern makes of an op, and what is counted, they decide themselves.

namespace workbench {

/// "aten.add.Tensor" without its overload.
std::string_view baseName(std::string_view op);

/// A function of each element that a gate or a feed-forward block may have.
bool isActivation(std::string_view op);
/// Each output element follows from the operands' elements at the same place, whichever the overload.
bool isElementwise(std::string_view op);
/// Looks at the same elements in another shape, order or part.
bool isView(std::string_view op);
/// A product of matrices, or of one and a vector.
bool isProduct(std::string_view op);
/// One, or a batch, that is no projection: "aten.matmul", "aten.bmm".
bool isMatmul(std::string_view op);
bool isSoftmax(std::string_view op);
/// torch's RMSNorm.
bool isTorchRmsNorm(std::string_view op);
/// Any of torch's norms: RMSNorm, and those that subtract a mean.
bool isTorchNorm(std::string_view op);
/// One of ours that holds an RMSNorm.
bool isFusedNorm(std::string_view op);
/// Attention in one op: torch's, or the tracer's own.
bool isFusedAttention(std::string_view op);

} // namespace workbench
