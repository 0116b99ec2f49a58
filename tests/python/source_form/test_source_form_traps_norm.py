"""What the source forms of norms must not touch: each trap is refused with its reason, or rewritten and equal to what it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from toys import LLAMA_NORM, NORM, assert_equal, norm_site, refusal_reason, toy_model, toy_source
from workbench_tracer.source_form.emit import emit
from workbench_tracer.source_form.request import Request, Site

NORM_FIRES = {
    "llama": (LLAMA_NORM, {}),
    "square by product": (LLAMA_NORM.replace("x.pow(2)", "(x * x)"), {}),
    "torch.square": (LLAMA_NORM.replace("x.pow(2)", "torch.square(x)"), {}),
    "power": (LLAMA_NORM.replace("torch.rsqrt(variance + self.eps)", "(variance + self.eps) ** -0.5"), {}),
    "pow call": (LLAMA_NORM.replace("torch.rsqrt(variance + self.eps)", "torch.pow(variance + self.eps, -0.5)"), {}),
    "quotient": (LLAMA_NORM.replace("x * torch.rsqrt(variance + self.eps)", "x / torch.sqrt(variance + self.eps)"), {}),
    "literal epsilon": (LLAMA_NORM.replace("self.eps", "1e-3"), {}),
    "gemma": ("return ((x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)) * (1.0 + self.weight.float())"
              ").type_as(x)", {"weight_offset": 1.0, "cast": "after_weight"}),
    "olmo": (LLAMA_NORM.replace("self.weight * x.to(dtype)", "(self.weight * x).to(dtype)"), {"cast": "after_weight"}),
    "no weight": (LLAMA_NORM.replace("self.weight * x.to(dtype)", "x.to(dtype)"), {"weight": None}),
    "torch's own": ("return F.rms_norm(x, (8,), self.weight, self.eps)", {"cast": "after_weight"}),
}


@pytest.mark.parametrize("body, changes", NORM_FIRES.values(), ids=NORM_FIRES)
def test_rms_norm_fires(body, changes, import_text, tmp_path):
    model = toy_model(import_text(toy_source(NORM, body)))
    source = assert_equal(model, [norm_site(**changes)], tmp_path / "out")
    assert "torch.ops.workbench.rms_norm(" in source


NORM_TRAPS = {
    "sum instead of mean": (LLAMA_NORM.replace("mean(", "sum("), {}, "sum"),
    "another dimension": (LLAMA_NORM.replace("mean(-1", "mean(-2"), {}, "mean(-2"),
    "not kept": (LLAMA_NORM.replace("keepdim=True", "keepdim=False"), {}, "mean(-1"),
    "half the width": (LLAMA_NORM.replace("x.pow(2)", "x[..., :4].pow(2)"), {}, "is not an RMSNorm"),
    "mean subtracted": (LLAMA_NORM.replace("    variance", "    x = x - x.mean(-1, keepdim=True)\n    variance"), {},
                        "is not an RMSNorm"),
    "epsilon outside of the root": (LLAMA_NORM.replace("torch.rsqrt(variance + self.eps)", "(torch.rsqrt(variance) + self.eps)"), {},
                                    "is not an RMSNorm"),
    "cube": (LLAMA_NORM.replace("pow(2)", "pow(3)"), {}, "is not an RMSNorm"),
    "no cast": (LLAMA_NORM.replace("    x = x.to(torch.float32)\n", ""), {}, "is not an RMSNorm"),
    "offset without a cast": (LLAMA_NORM.replace("self.weight *", "(1.0 + self.weight) *"), {}, "is not an RMSNorm"),
    "a branch": (LLAMA_NORM.replace("    variance", "    if self.training:\n        return x\n    variance"), {}, "if self.training"),
    "a product after it": (LLAMA_NORM.replace("return self", "return 2 * self"), {}, "is not an RMSNorm"),
    "another epsilon than planned": (LLAMA_NORM, {"eps": 1e-5}, "the plan says eps = 1e-05, the source says 0.001"),
    "another weight than planned": (LLAMA_NORM, {"weight": "part.scale"}, "the plan says that the weight is part.scale"),
    "another offset than planned": (LLAMA_NORM, {"weight_offset": 1.0}, "the plan says weight_offset"),
}


@pytest.mark.parametrize("body, changes, expected", NORM_TRAPS.values(), ids=NORM_TRAPS)
def test_rms_norm_trap(body, changes, expected, import_text, tmp_path):
    assert body != LLAMA_NORM or changes, "the trap changes nothing"
    assert expected in refusal_reason(toy_model(import_text(toy_source(NORM, body))), norm_site(**changes), tmp_path / "out")


@pytest.mark.parametrize("dtype, refused", [("float32", False), ("bfloat16", True)])
def test_another_cast_than_planned(dtype, refused, import_text, tmp_path):
    """A float32 trace rounds nowhere, so its plan cannot tell the orders apart: the source says which it is."""
    (tmp_path / "out").mkdir()
    site = norm_site(cast="after_weight")
    request = Request(Path("toy"), False, {}, (site,), dtype)
    entry = emit(request, toy_model(import_text(toy_source(NORM, LLAMA_NORM))), tmp_path / "out")["sites"][site.id]
    if refused:
        assert "the plan says cast = 'after_weight', the source says 'before_weight'" in entry["reason"]
    else:
        assert 'cast="before_weight"' in (tmp_path / "out" / entry["form"]["python"]).read_text()


def test_gated_norm_has_two_inputs(import_text, tmp_path):
    text = toy_source(NORM, LLAMA_NORM, head="def forward(self, x, gate=None):")
    assert "takes 2 inputs" in refusal_reason(toy_model(import_text(text)), norm_site(), tmp_path / "out")


def test_unknown_pattern(import_text, tmp_path):
    site = Site("mla@part", "mla", "part", (), {})
    assert "no source form is known for the pattern mla" in refusal_reason(toy_model(import_text(toy_source(NORM, LLAMA_NORM))), site, tmp_path / "o")


def test_a_subclass_may_change_the_norms_helper(import_text, tmp_path):
    helper = "def _norm(self, x):\n    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)"
    text = toy_source(NORM, "return (self._norm(x.float()) * (1.0 + self.weight.float())).type_as(x)", extra=helper)
    site = norm_site(weight_offset=1.0, cast="after_weight")
    assert_equal(toy_model(import_text(text)), [site], tmp_path / "plain")
    changed = text.replace("self.part = Norm()", "self.part = Other()").replace(
        "class Model", "class Other(Norm):\n    def _norm(self, x):\n        return x\n\n\nclass Model")
    assert "self._norm" in refusal_reason(toy_model(import_text(changed)), site, tmp_path / "changed")


def test_functions_that_the_file_binds_twice(import_text, tmp_path):
    text = "def helper(x):\n    return x.pow(2)\n\n\n{}helper = torch.abs\n\n\n" + toy_source(NORM, LLAMA_NORM.replace("x.pow(2)", "helper(x)"))
    assert "helper(x)" in refusal_reason(toy_model(import_text(text.format(""))), norm_site(), tmp_path / "twice")
    assert_equal(toy_model(import_text(text.format("not_"))), [norm_site()], tmp_path / "once")


def test_torchs_own_norm_module(import_text, tmp_path):
    text = ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = nn.RMSNorm(8, eps=1e-3)\n\n"
            "    def forward(self, x):\n        return self.part(x)\n")
    model = toy_model(import_text(text))
    torch.nn.init.uniform_(model.part.weight)
    assert "def forward(self, x: torch.Tensor)" in assert_equal(model, [norm_site(cast="after_weight")], tmp_path / "out")
    diff = (tmp_path / "out" / "normalization.RMSNorm.diff").read_text()
    assert "--- a/torch/nn/modules/normalization.py\n" in diff


def test_torchs_own_norm_without_weight_or_epsilon(import_text, tmp_path):
    text = ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = nn.RMSNorm({})\n\n"
            "    def forward(self, x):\n        return self.part(x)\n")
    plain = norm_site(cast="after_weight", weight=None)
    model = toy_model(import_text(text.format("(3, 8), eps=1e-3, elementwise_affine=False")))
    assert "the width that it normalises over is not known" in refusal_reason(model, plain, tmp_path / "wide")
    model = toy_model(import_text(text.format("8")))
    assert "is no number" in refusal_reason(model, norm_site(cast="after_weight"), tmp_path / "eps")
