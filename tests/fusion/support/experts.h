#pragma once

#include <string_view>

/// A mixture of experts as torch.export writes Qwen3-MoE's: router, then batched experts. bf16, 6 experts of
/// which each token has 2; hidden 8, intermediate 4.

namespace workbench::test {

inline constexpr std::string_view kExperts = R"(
module "" Model
module "mlp" SparseMoeBlock
module "mlp.gate" TopKRouter
module "mlp.experts" Experts
module "mlp.experts.act_fn" SiLUActivation
parameter %wr: bf16[6, 8] "mlp.gate.weight"
parameter %gu: bf16[6, 8, 8] "mlp.experts.gate_up_proj"
parameter %dn: bf16[6, 8, 4] "mlp.experts.down_proj"
input %x: bf16[s0, 8]
%logits: bf16[s0, 6] = aten.linear.default(input=%x, weight=%wr) @"mlp.gate"
%probs: f32[s0, 6] = aten.softmax.int(self=%logits, dim=-1, dtype=dtype:f32) @"mlp.gate"
%top: f32[s0, 2], %chosen: i64[s0, 2] = aten.topk.default(self=%probs, k=2) @"mlp.gate"
%total: f32[s0, 1] = aten.sum.dim_IntList(self=%top, dim=[-1], keepdim=true) @"mlp.gate"
%share: f32[s0, 2] = aten.div.Tensor(self=%top, other=%total) @"mlp.gate"
%weights: bf16[s0, 2] = aten._to_copy.default(self=%share, dtype=dtype:bf16) @"mlp.gate"
%rep: bf16[2*s0, 8] = aten.repeat_interleave.self_int(self=%x, repeats=2, dim=0) @"mlp.experts"
%wflat: bf16[2*s0] = aten.view.default(self=%weights, size=[-1]) @"mlp.experts"
%ids: i64[2*s0] = aten.view.default(self=%chosen, size=[-1]) @"mlp.experts"
%pick: bf16[2*s0, 8, 8] = aten.index.Tensor(self=%gu, indices=[%ids]) @"mlp.experts"
%col: bf16[2*s0, 8, 1] = aten.unsqueeze.default(self=%rep, dim=-1) @"mlp.experts"
%bmm: bf16[2*s0, 8, 1] = aten.bmm.default(self=%pick, mat2=%col) @"mlp.experts"
%both: bf16[2*s0, 8] = aten.squeeze.dim(self=%bmm, dim=-1) @"mlp.experts"
%gate: bf16[2*s0, 4], %up: bf16[2*s0, 4] = aten.split.Tensor(self=%both, split_size=4, dim=-1) @"mlp.experts"
%act: bf16[2*s0, 4] = aten.silu.default(self=%gate) @"mlp.experts.act_fn"
%gated: bf16[2*s0, 4] = aten.mul.Tensor(self=%act, other=%up) @"mlp.experts"
%pick2: bf16[2*s0, 8, 4] = aten.index.Tensor(self=%dn, indices=[%ids]) @"mlp.experts"
%col2: bf16[2*s0, 4, 1] = aten.unsqueeze.default(self=%gated, dim=-1) @"mlp.experts"
%bmm2: bf16[2*s0, 8, 1] = aten.bmm.default(self=%pick2, mat2=%col2) @"mlp.experts"
%out: bf16[2*s0, 8] = aten.squeeze.dim(self=%bmm2, dim=-1) @"mlp.experts"
%wcol: bf16[2*s0, 1] = aten.unsqueeze.default(self=%wflat, dim=-1) @"mlp.experts"
%weighted: bf16[2*s0, 8] = aten.mul.Tensor(self=%out, other=%wcol) @"mlp.experts"
%grouped: bf16[s0, 2, 8] = aten.view.default(self=%weighted, size=[s0, 2, 8]) @"mlp.experts"
%y: bf16[s0, 8] = aten.sum.dim_IntList(self=%grouped, dim=[1]) @"mlp.experts"
output %y
)";

} // namespace workbench::test
