"""RMSNorm against the classes of transformers."""

import pytest
import torch
from support import DTYPES, assert_same_rounding, ops
from transformers.models.gemma2.modeling_gemma2 import Gemma2RMSNorm
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.olmo2.modeling_olmo2 import Olmo2RMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from workbench_ops import norms

MODULES = {
    LlamaRMSNorm: (0.0, "before_weight"),
    Qwen3RMSNorm: (0.0, "before_weight"),
    Gemma2RMSNorm: (1.0, "after_weight"),
    Gemma3RMSNorm: (1.0, "after_weight"),
    Olmo2RMSNorm: (0.0, "after_weight"),
}


def norm_module(cls: type, width: int, dtype: torch.dtype) -> torch.nn.Module:
    module = cls(width, eps=1e-5).to(dtype)
    torch.nn.init.normal_(module.weight)
    return module.requires_grad_(False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cls", MODULES)
def test_equals_transformers(cls, dtype):
    offset, cast = MODULES[cls]
    for width in (17, 64, 576):
        module = norm_module(cls, width, dtype)
        x = (3 * torch.randn(2, 33, width)).to(dtype)
        expected = module(x)
        arguments = {"eps": 1e-5, "weight_offset": offset, "cast": cast}
        assert torch.equal(norms.rms_norm_reference(x, module.weight, **arguments), expected)
        assert_same_rounding(ops.rms_norm(x, module.weight, **arguments), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cls", MODULES)
def test_add_equals_transformers(cls, dtype):
    offset, cast = MODULES[cls]
    module = norm_module(cls, 96, dtype)
    x, residual = (torch.randn(1, 33, 96).to(dtype) for _ in range(2))
    total = residual + x
    normed, added = ops.add_rms_norm(x, residual, module.weight, eps=1e-5, weight_offset=offset, cast=cast)
    assert torch.equal(added, total)
    assert_same_rounding(normed, module(total))


def test_cast_order_is_visible():
    """The comparison above can fail: the other cast order changes many bits."""
    module = norm_module(LlamaRMSNorm, 576, torch.bfloat16)
    x = torch.randn(33, 576).bfloat16()
    wrong = ops.rms_norm(x, module.weight, eps=1e-5, weight_offset=0.0, cast="after_weight")
    with pytest.raises(AssertionError):
        assert_same_rounding(wrong, module(x))


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float16, torch.float64))
@pytest.mark.parametrize("cast", norms.CASTS)
@pytest.mark.parametrize("offset", (0.0, 1.0))
def test_kernel_equals_reference(library, dtype, cast, offset):
    x = torch.randn(4, 7, 3, 40).to(dtype).transpose(1, 2)
    for weight in (torch.randn(40).to(dtype), None):
        arguments = {"eps": 1e-6, "weight_offset": offset, "cast": cast}
        kernel = ops.rms_norm(x, weight, **arguments)
        reference = norms.rms_norm_reference(x, weight, **arguments)
        assert kernel.stride() == reference.stride()
        torch.testing.assert_close(kernel, reference)
