"""Comparison of operators with what transformers computes."""

import torch
from torch import Tensor

DTYPES = (torch.float32, torch.bfloat16)
ops = torch.ops.workbench


def assert_same_rounding(actual: Tensor, expected: Tensor, *, atol: float = 1e-6) -> None:
    """float32: within atol of the largest value (or of 1). bfloat16: within one last place, and nearly all bits equal.

    Sums run in another order than PyTorch's, so that a value now and then falls to the other side of a rounding; a rounding at the wrong
    place changes a good part of the values.
    """
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if actual.dtype == torch.float32:
        scale = max(expected.abs().max().item(), 1.0) if expected.numel() else 1.0
        assert (actual - expected).abs().max().item() <= atol * scale
        return
    torch.testing.assert_close(actual, expected, rtol=2**-7, atol=1e-5)
    different = (actual != expected).double().mean().item()
    assert different <= 0.02, f"{different:.1%} of the values differ"
