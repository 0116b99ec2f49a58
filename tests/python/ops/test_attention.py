"""Attention against the eager functions of transformers, with masks written out pair by pair."""

import types

import pytest
import torch
from support import DTYPES, ops
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward as gemma2_eager
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as gpt_oss_eager

from workbench_ops import attention

# Inner roundings differ (transformers rounds scores and probabilities): bfloat16 is compared with eager in float32.
TOLERANCES = {torch.float32: 2e-6, torch.bfloat16: 2**-7}
MASKS = (("causal", 0), ("sliding", 5), ("sliding", 1), ("chunked", 4), ("full", 0))


def eager_mask(positions: list[int], kind: str, window: int) -> torch.Tensor:
    """Additive mask; who sees whom is decided by walking from token to token."""
    count = len(positions)
    mask = torch.full((1, 1, count, count), -torch.inf)
    for i in range(count):
        for j in range(count):
            low, high = min(i, j), max(i, j)
            together = all(positions[t + 1] == positions[t] + 1 for t in range(low, high))
            seen = {
                "causal": j <= i,
                "sliding": 0 <= i - j < window,
                "chunked": j <= i and window and positions[i] // window == positions[j] // window,
                "full": True,
            }[kind]
            if together and seen:
                mask[0, 0, i, j] = 0
    return mask


def inputs(tokens: int, dtype: torch.dtype, *, value_width: int = 16) -> tuple[torch.Tensor, ...]:
    shapes = ((6, 16), (2, 16), (2, value_width))
    return tuple(torch.randn(1, tokens, count, width).to(dtype).transpose(1, 2) for count, width in shapes)


def call(query, key, value, positions, kind="causal", window=0, softcap=0.0, sinks=None, slopes=None):
    return ops.attention(query, key, value, torch.tensor([positions]), layer=0, scale=0.3, mask=kind, window=window, softcap=softcap,
                         sinks=sinks, slopes=slopes)


def check(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.shape == expected.shape
    torch.testing.assert_close(actual.float(), expected.float(), rtol=TOLERANCES[actual.dtype], atol=TOLERANCES[actual.dtype])


PACKED = [*range(13), *range(20), *range(7, 9)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kind", "window"), MASKS)
@pytest.mark.parametrize("softcap", (0.0, 3.0))
def test_equals_gemma2_eager(dtype, kind, window, softcap):
    for positions in ([4], list(range(33)), PACKED):
        query, key, value = inputs(len(positions), dtype, value_width=12)
        module = types.SimpleNamespace(num_key_value_groups=3, training=False)
        expected, _ = gemma2_eager(module, query.float(), key.float(), value.float(), eager_mask(positions, kind, window),
                                   scaling=0.3, softcap=softcap or None)
        check(call(query, key, value, positions, kind, window, softcap), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sinks_equal_gpt_oss_eager(dtype):
    query, key, value = inputs(len(PACKED), dtype)
    sinks = torch.randn(6)
    module = types.SimpleNamespace(num_key_value_groups=3, training=False, sinks=sinks)
    expected, _ = gpt_oss_eager(module, query.float(), key.float(), value.float(), eager_mask(PACKED, "sliding", 5), scaling=0.3)
    check(call(query, key, value, PACKED, "sliding", 5, sinks=sinks), expected)


def test_slopes_equal_bloom():
    positions = list(range(21))
    query, key, value = inputs(21, torch.float32)
    alibi = build_alibi_tensor(torch.ones(1, 21), 6, torch.float32).view(1, 6, 1, 21)  # slope * j: constants per row cancel
    slopes = alibi[0, :, 0, 1]
    module = types.SimpleNamespace(num_key_value_groups=3, training=False)
    expected, _ = gemma2_eager(module, query, key, value, eager_mask(positions, "causal", 0) + alibi, scaling=0.3)
    check(call(query, key, value, positions, slopes=slopes), expected)


@pytest.mark.parametrize(("kind", "window"), MASKS)
def test_mask_equals_pairs(kind, window):
    seen = ops.mask(torch.tensor([PACKED]), kind=kind, window=window)
    assert torch.equal(seen, eager_mask(PACKED, kind, window) == 0)


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float16, torch.float64))
@pytest.mark.parametrize(("kind", "window"), MASKS)
def test_kernel_equals_reference(library, dtype, kind, window):
    for tokens in (0, 1, 70):
        query, key, value = inputs(tokens, dtype, value_width=9)
        arguments = {"layer": 0, "scale": 0.3, "mask": kind, "window": window, "softcap": 2.0,
                     "sinks": torch.randn(6).to(dtype), "slopes": torch.rand(6).to(dtype)}
        positions = torch.arange(tokens)[None]
        kernel = ops.attention(query, key, value, positions, **arguments)
        reference = attention.attention_reference(query, key, value, positions, **arguments)
        assert kernel.stride() == reference.stride()
        torch.testing.assert_close(kernel, reference, rtol=1e-2 if dtype == torch.bfloat16 else 2e-3 if dtype == torch.float16 else 2e-5,
                                   atol=1e-5)
