"""The experts and their router against the batched experts and the routers of transformers."""

import types

import pytest
import torch
from support import DTYPES, assert_same_rounding, ops
from transformers.integrations.moe import batched_mm_experts_forward

from workbench_ops import moe

SIZES = {  # tokens, k, experts, hidden, inner
    "one token": (1, 2, 8, 32, 16),
    "none": (0, 2, 8, 32, 16),
    "odd": (7, 3, 5, 37, 19),
    "one expert per token": (5, 1, 4, 24, 8),
    "every expert": (6, 4, 4, 24, 8),
    "many tokens": (90, 2, 6, 48, 24),
}


def case(name, dtype, weights_dtype=None):
    tokens, k, experts, hidden, inner = SIZES[name]
    x = torch.randn(tokens, hidden).to(dtype)
    logits = torch.randn(tokens, experts)
    weights, indices = torch.topk(logits.softmax(-1), k)
    gate_up = (torch.randn(experts, 2 * inner, hidden) / hidden**0.5).to(dtype)
    down = (torch.randn(experts, hidden, inner) / inner**0.5).to(dtype)
    return x, weights.to(weights_dtype or dtype), indices, gate_up, down


def transformers_experts(x, weights, indices, gate_up, down):
    def apply_gate(both):
        gate, up = both.chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up

    experts = types.SimpleNamespace(
        gate_up_proj=gate_up, down_proj=down, has_gate=True, has_bias=False, has_post_expert_norm=False, is_transposed=False,
        _is_expert_parallel=False, num_experts=gate_up.size(0), _apply_gate=apply_gate)  # fmt: skip
    return batched_mm_experts_forward(experts, x, indices, weights)


@pytest.mark.parametrize("weights_dtype", (None, torch.float32))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SIZES)
def test_equals_transformers(name, dtype, weights_dtype):
    arguments = case(name, dtype, weights_dtype)
    expected = transformers_experts(*arguments)
    for found in (moe.moe_experts_reference(*arguments, activation="silu"), ops.moe_experts(*arguments, activation="silu")):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        if not expected.numel():
            continue
        if dtype == torch.float32:
            assert_same_rounding(found, expected)
        else:  # three roundings one after another
            assert float((found - expected).abs().max()) <= 2**-7 * float(expected.abs().max())


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float16, torch.float64))
def test_kernel_equals_reference(library, dtype):
    arguments = case("odd", dtype)
    found, expected = ops.moe_experts(*arguments, activation="gelu_tanh"), moe.moe_experts_reference(*arguments, activation="gelu_tanh")
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-5)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("experts", (moe.moe_experts_reference, ops.moe_experts))
def test_negative_indices_count_from_the_end(experts):
    x, weights, indices, gate_up, down = case("odd", torch.float32)
    expected = experts(x, weights, indices, gate_up, down, activation="silu")
    wrapped = torch.where(indices > 2, indices - gate_up.size(0), indices)
    assert torch.equal(experts(x, weights, wrapped, gate_up, down, activation="silu"), expected)
    for wrong in (gate_up.size(0), -gate_up.size(0) - 1):
        with pytest.raises(IndexError, match=f"index {wrong} is not one of the 5 experts"):
            experts(x, weights, torch.full_like(indices, wrong), gate_up, down, activation="silu")


def test_no_tokens_have_gradients_of_nothing():
    x, weights, indices, gate_up, down = case("none", torch.float32)
    gate_up.requires_grad_()
    ops.moe_experts(x, weights, indices, gate_up, down, activation="silu").sum().backward()
    assert gate_up.grad is not None and not gate_up.grad.any()


ROUTERS = {
    "qwen3-moe": ("softmax_first", True),
    "olmoe": ("softmax_first", False),
    "granitemoe": ("top_k_first", False),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ROUTERS)
def test_routes_as_transformers_does(name, dtype):
    order, renormalize = ROUTERS[name]
    logits = (3 * torch.randn(40, 12)).to(dtype)
    if order == "softmax_first":
        expected, chosen = torch.topk(torch.nn.functional.softmax(logits, dtype=torch.float, dim=-1), 3, dim=-1)
        expected = expected / expected.sum(dim=-1, keepdim=True) if renormalize else expected
    else:
        expected, chosen = logits.float().topk(3, dim=-1)
        expected = torch.softmax(expected, dim=-1)
    keywords = {"top_k": 3, "order": order, "renormalize": renormalize, "sorted": True, "dtype": dtype}
    for weights, indices in (moe.moe_route_reference(logits, **keywords), ops.moe_route(logits, **keywords)):
        assert torch.equal(indices, chosen)
        assert_same_rounding(weights, expected.to(dtype))
