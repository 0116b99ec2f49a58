#pragma once

#include "core/graph/graph.h"
#include "core/support/result.h"

#include <string>
#include <string_view>

/// The text form of a graph; tests are written in it and the worker receives it. parse(print(g)) is g.
///
///     # a comment
///     module "model.norm" LlamaRMSNorm
///     input %x: f32[1, s0, 64]
///     parameter %w: f32[64] "model.norm.weight"
///     parameter %qk: f32[128, 64] "layers.0.qk_proj.weight" = cat(0, "…q_proj.weight", "…k_proj.weight")
///     buffer %inv: f32[32] "model.rotary_emb.inv_freq"
///     constant %c: f32[] "lifted_tensor_0"
///     %y: f32[1, s0, 64] = aten.mul.Tensor(self=%x, other=%w) @"model.norm" from "model.py":52 forward
///     %a: f32[1, s0, 32], %b: f32[1, s0, 32] = aten.split.Tensor(self=%y, split_size=32, dim=-1)
///     output %a, %b
///
/// Argument values: none, true, 3, s0 + 1, 1e-05 or 2.0 (floats always carry '.', 'e', inf or nan), "text",
/// dtype:bf16, layout:strided, device:cpu, memory_format:contiguous_format, %value, [..] lists (an absent
/// tensor in a list is none; an empty list is [] and is a list of integers). `@"module"` and `from` are
/// optional. Only the innermost source frame is written.

namespace workbench {

struct PrintOptions {
    bool locations = true; ///< module and source of each node
};

std::string print(const Graph& graph, const PrintOptions& options = {});
/// One argument's value as print() writes it; tensors as their names in `graph`.
std::string print(const ArgumentValue& value, const Graph& graph);
/// "f32[1, s0, 64]".
std::string print(const TensorMeta& meta);
/// An error names the line and what was expected there. The result has passed verify().
Result<Graph> parseGraph(std::string_view text);

} // namespace workbench
