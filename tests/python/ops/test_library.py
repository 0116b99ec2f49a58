"""The package and the C++ library in one process, and what they refuse."""

import subprocess
import sys

import pytest
import torch
from cases import all_cases
from support import ops

import workbench_ops

CALL = """
x = torch.randn(3, 8)
y = torch.ops.workbench.rms_norm(x, None, eps=1e-5, weight_offset=0.0, cast="before_weight")
assert torch.allclose(y, torch.nn.functional.rms_norm(x, (8,), eps=1e-5), atol=1e-6)
assert torch._C._dispatch_has_kernel_for_dispatch_key("workbench::rms_norm", "CPU")
assert torch.ops.workbench.rms_norm(x.to("meta"), None, eps=1e-5, weight_offset=0.0, cast="before_weight").shape == (3, 8)
"""


@pytest.mark.parametrize(
    "imports",
    (
        "import torch; torch.ops.load_library(LIBRARY); import workbench_ops",
        "import torch; import workbench_ops; workbench_ops.load(LIBRARY)",
        "import torch; import workbench_ops; torch.ops.workbench.rms_norm; torch.ops.load_library(LIBRARY)",
    ),
)
def test_library_and_package_load_in_either_order(library, imports):
    code = imports.replace("LIBRARY", repr(library)) + CALL
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_package_works_alone():
    code = "import torch, workbench_ops" + CALL.replace('assert torch._C._dispatch_has_kernel_for_dispatch_key("workbench::rms_norm", "CPU")\n', "")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_operator_has_a_case():
    """A mask is for tracers alone: no test computes with it."""
    assert {name.partition("-")[0] for name in all_cases()} == workbench_ops.SCHEMAS.keys() - {"mask"}


def test_every_operator_of_the_library_is_defined_here_too(library):
    torch.ops.load_library(library)
    known = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith("workbench::")}
    assert known == {f"workbench::{name}" for name in workbench_ops.SCHEMAS}


def test_every_operator_can_be_compiled():
    for name in workbench_ops.SCHEMAS:
        assert torch.Tag.pt2_compliant_tag in getattr(ops, name).default.tags


def test_missing_library_is_an_error():
    with pytest.raises(OSError, match="no-such-library"):
        workbench_ops.load("/no-such-library.so")


WRONG_CALLS = {
    "weight must be": lambda: ops.rms_norm(torch.randn(3, 8), torch.randn(7), eps=1e-5, weight_offset=0.0, cast="before_weight"),
    "cast must be one of": lambda: ops.rms_norm(torch.randn(3, 8), None, eps=1e-5, weight_offset=0.0, cast="never"),
    "input must be a floating-point tensor": lambda: ops.rms_norm(torch.ones(3, dtype=torch.int64), None, eps=1e-5, weight_offset=0.0, cast="before_weight"),
    "residual must": lambda: ops.add_rms_norm(torch.randn(3, 8), torch.randn(2, 8), None, eps=1e-5, weight_offset=0.0, cast="before_weight"),
    "the last dimension of gate_up must be even": lambda: ops.act_and_mul(torch.randn(3, 7), activation="silu"),
    "activation must be one of": lambda: ops.act_and_mul(torch.randn(3, 8), activation="swish"),
    "style must be one of": lambda: ops.rope(*(torch.randn(1, 2, 3, 8),) * 2, *(torch.randn(1, 3, 8),) * 2, style="other"),
    "routing_weights must be": lambda: ops.moe_experts(torch.randn(3, 8), torch.randn(3, 1), torch.zeros(3, 2, dtype=torch.int64),
                                                       torch.randn(2, 8, 8), torch.randn(2, 8, 4), activation="silu"),
    "order must be one of": lambda: ops.moe_route(torch.randn(3, 8), top_k=2, order="never", renormalize=False, sorted=True, dtype=torch.float32),
    "with at least top_k": lambda: ops.moe_route(torch.randn(3, 8), top_k=9, order="softmax_first", renormalize=False, sorted=True, dtype=torch.float32),
    "window must be": lambda: ops.mask(torch.arange(3)[None], kind="sliding", window=0),
    "mask kind must be one of": lambda: ops.mask(torch.arange(3)[None], kind="diagonal", window=0),
}


@pytest.mark.parametrize("sentence", WRONG_CALLS)
def test_wrong_arguments_are_refused_in_one_sentence(sentence):
    with pytest.raises(ValueError, match=f"workbench::[a-z_]+: .*{sentence}") as caught:
        WRONG_CALLS[sentence]()
    assert str(caught.value).splitlines()[0].endswith(".")
