#pragma once

#include <string_view>

/// A decoder attention as torch.export writes it: projections (grouped heads), rotation, attention op.

namespace workbench::test {

inline constexpr std::string_view kAttention = R"(
module "" Model
module "attn" LlamaAttention
module "attn.q_proj" Linear
parameter %wq: f32[48, 32] "attn.q_proj.weight"
parameter %wk: f32[16, 32] "attn.k_proj.weight"
parameter %wv: f32[16, 32] "attn.v_proj.weight"
input %x: f32[1, s0, 32]
input %positions: i64[1, s0]
input %cos: f32[1, s0, 8]
input %sin: f32[1, s0, 8]
%q: f32[1, s0, 48] = aten.linear.default(input=%x, weight=%wq) @"attn.q_proj"
%qv: f32[1, s0, 6, 8] = aten.view.default(self=%q, size=[1, s0, -1, 8]) @"attn"
%qt: f32[1, 6, s0, 8] = aten.transpose.int(self=%qv, dim0=1, dim1=2) @"attn"
%k: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wk) @"attn"
%kv: f32[1, s0, 2, 8] = aten.view.default(self=%k, size=[1, s0, -1, 8]) @"attn"
%kt: f32[1, 2, s0, 8] = aten.transpose.int(self=%kv, dim0=1, dim1=2) @"attn"
%v: f32[1, s0, 16] = aten.linear.default(input=%x, weight=%wv) @"attn"
%vv: f32[1, s0, 2, 8] = aten.view.default(self=%v, size=[1, s0, -1, 8]) @"attn"
%vt: f32[1, 2, s0, 8] = aten.transpose.int(self=%vv, dim0=1, dim1=2) @"attn"
%c: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%cos, dim=1) @"attn"
%s: f32[1, 1, s0, 8] = aten.unsqueeze.default(self=%sin, dim=1) @"attn"
%qc: f32[1, 6, s0, 8] = aten.mul.Tensor(self=%qt, other=%c) @"attn"
%q1: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qt, dim=3, start=0, end=4) @"attn"
%q2: f32[1, 6, s0, 4] = aten.slice.Tensor(self=%qt, dim=3, start=4, end=9223372036854775807) @"attn"
%qn: f32[1, 6, s0, 4] = aten.neg.default(self=%q2) @"attn"
%qr: f32[1, 6, s0, 8] = aten.cat.default(tensors=[%qn, %q1], dim=-1) @"attn"
%qs: f32[1, 6, s0, 8] = aten.mul.Tensor(self=%qr, other=%s) @"attn"
%qe: f32[1, 6, s0, 8] = aten.add.Tensor(self=%qc, other=%qs) @"attn"
%kc: f32[1, 2, s0, 8] = aten.mul.Tensor(self=%kt, other=%c) @"attn"
%k1: f32[1, 2, s0, 4] = aten.slice.Tensor(self=%kt, dim=3, start=0, end=4) @"attn"
%k2: f32[1, 2, s0, 4] = aten.slice.Tensor(self=%kt, dim=3, start=4, end=9223372036854775807) @"attn"
%kn: f32[1, 2, s0, 4] = aten.neg.default(self=%k2) @"attn"
%kr: f32[1, 2, s0, 8] = aten.cat.default(tensors=[%kn, %k1], dim=-1) @"attn"
%ks: f32[1, 2, s0, 8] = aten.mul.Tensor(self=%kr, other=%s) @"attn"
%ke: f32[1, 2, s0, 8] = aten.add.Tensor(self=%kc, other=%ks) @"attn"
%a: f32[1, s0, 6, 8] = workbench.attention(query=%qe, key=%ke, value=%vt, positions=%positions, layer=0, scale=0.25, mask="causal", window=0, softcap=0.0, sinks=none, slopes=none) @"attn"
%y: f32[1, s0, 48] = aten.view.default(self=%a, size=[1, s0, -1]) @"attn"
output %y
)";

} // namespace workbench::test
