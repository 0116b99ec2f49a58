"""Rotary embedding against the functions of transformers."""

import pytest
import torch
from support import DTYPES, assert_same_rounding, ops
from transformers.models.cohere.modeling_cohere import apply_rotary_pos_emb as cohere_rope
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb as neox_rope
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama_rope

from workbench_ops import rotary


def tables(tokens: int, width: int, dtype: torch.dtype, *, interleaved: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = torch.arange(tokens)[:, None] / 10000.0 ** (torch.arange(0, width, 2) / width)
    angles = torch.repeat_interleave(frequencies, 2, -1) if interleaved else torch.cat([frequencies, frequencies], -1)
    return angles.cos()[None].to(dtype), angles.sin()[None].to(dtype)


def heads(count: int, tokens: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(1, tokens, count, width).to(dtype).transpose(1, 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tokens", (1, 33))
def test_half_equals_llama(dtype, tokens):
    query, key = heads(6, tokens, 64, dtype), heads(2, tokens, 64, dtype)
    cos, sin = tables(tokens, 64, dtype)
    for actual, expected in zip(ops.rope(query, key, cos, sin, style="half"), llama_rope(query, key, cos, sin), strict=True):
        assert torch.equal(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_partial_width_equals_gpt_neox(dtype):
    query, key = heads(4, 33, 40, dtype), heads(4, 33, 40, dtype)
    cos, sin = tables(33, 12, dtype)
    expected = neox_rope(query, key, cos, sin)
    for actual, want in zip(ops.rope(query, key, cos, sin, style="half"), expected, strict=True):
        assert torch.equal(actual, want)


def test_interleaved_equals_cohere():
    # In float32: Cohere computes in float32 whatever the dtype, which is not what this operator does for bfloat16.
    query, key = heads(6, 33, 24, torch.float32), heads(3, 33, 24, torch.float32)
    cos, sin = tables(33, 24, torch.float32, interleaved=True)
    for actual, expected in zip(ops.rope(query, key, cos, sin, style="interleaved"), cohere_rope(query, key, cos, sin), strict=True):
        assert torch.equal(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_norm_and_half_equal_qwen3(dtype):
    query, key = (torch.randn(1, 33, count, 64).to(dtype) for count in (6, 2))
    norms = [LlamaRMSNorm(64).to(dtype).requires_grad_(False) for _ in range(2)]
    for norm in norms:
        torch.nn.init.normal_(norm.weight)
    cos, sin = tables(33, 64, dtype)
    expected = llama_rope(norms[0](query).transpose(1, 2), norms[1](key).transpose(1, 2), cos, sin)
    actual = ops.qk_norm_rope(query, key, norms[0].weight, norms[1].weight, cos, sin, eps=1e-6, weight_offset=0.0,
                              cast="before_weight", style="half")
    for one, other in zip(actual, expected, strict=True):
        if dtype == torch.float32:
            assert_same_rounding(one, other)
        else:
            # A norm's value that fell to the other side of a rounding reaches two outputs, where halves may cancel.
            torch.testing.assert_close(one, other, rtol=2**-6, atol=2e-2)
            assert (one != other).double().mean().item() <= 0.02


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float16, torch.float64))
@pytest.mark.parametrize("style", rotary.STYLES)
def test_kernel_equals_reference(library, dtype, style):
    query, key = heads(4, 9, 20, dtype), heads(2, 9, 20, dtype)
    cos, sin = (torch.randn(1, 9, 16).to(dtype) for _ in range(2))
    for one, other in zip(ops.rope(query, key, cos, sin, style=style), rotary.rope_reference(query, key, cos, sin, style=style), strict=True):
        assert torch.equal(one, other) and one.stride() == other.stride()
