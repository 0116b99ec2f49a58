"""The gated activation against the feed-forward blocks of transformers."""

import pytest
import torch
from support import DTYPES, assert_same_rounding, ops
from transformers.activations import ACT2FN

from workbench_ops import activation

NAMES = {"silu": "silu", "gelu": "gelu", "gelu_tanh": "gelu_pytorch_tanh", "relu": "relu", "sigmoid": "sigmoid"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_transformers(name, dtype):
    for width in (1, 17, 1536):
        gate_up = (2 * torch.randn(2, 33, 2 * width)).to(dtype)
        gate, up = gate_up.chunk(2, -1)
        expected = ACT2FN[NAMES[name]](gate) * up
        assert torch.equal(activation.act_and_mul_reference(gate_up, activation=name), expected)
        assert_same_rounding(ops.act_and_mul(gate_up, activation=name), expected)


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float16, torch.float64))
@pytest.mark.parametrize("name", NAMES)
def test_kernel_equals_reference(library, name, dtype):
    gate_up = torch.randn(2, 64, 5).to(dtype).transpose(1, 2)
    torch.testing.assert_close(ops.act_and_mul(gate_up, activation=name), activation.act_and_mul_reference(gate_up, activation=name))
