#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace workbench {

/// Random float32 weights for a model whose checkpoint is not there. They depend on seed, name and shape
/// alone, never on the machine or the order of calls, so that a program and its rewrite get the same ones.
///
/// Scales keep activations near 1 through any depth: vectors called "...weight" (norms) around 1, other
/// vectors (biases, sinks) small, matrices with a standard deviation of 1 / sqrt(columns) (LeCun et al.,
/// Efficient BackProp, 1998).
at::Tensor randomWeight(std::uint64_t seed, std::string_view name, at::IntArrayRef shape);

} // namespace workbench
