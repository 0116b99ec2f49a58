"""Forms and traps of the patterns that span several statements: add+norm, rotary embedding, norm+rotary."""

from __future__ import annotations

import textwrap

import pytest
from toys import assert_equal, refusal_reason, toy_model
from workbench_tracer.source_form.request import Node, Site

NORM_CLASS = """
class Norm(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1.0, 2.0, 8))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * x.to(dtype)


"""

LAYER = NORM_CLASS + """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.mix = nn.Linear(8, 8)
        self.scale = 0.7

    def forward(self, x):
{body}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Layer()

    def forward(self, x):
        return self.part(x)
"""

ADD_NORM = Site("add-rms-norm@part.norm", "add-rms-norm", "part.norm", (),
                {"weight": "part.norm.weight", "eps": 1e-3, "weight_offset": 0.0, "cast": "before_weight"})


def _layer(import_text, body: str):
    return toy_model(import_text(LAYER.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "        "))))


ADD_NORM_FIRES = {
    "llama": """
        residual = x
        x = self.mix(x)
        x = residual + x

        # then
        residual = x
        x = self.norm(x)
        return residual + self.mix(x)""",
    "operands swapped, scaled": """
        residual = x
        x = self.mix(x) * self.scale + residual
        residual = x
        x = self.norm(x)
        return residual + self.mix(x)""",
    "the sum keeps its name": """
        residual = x
        residual = residual + self.mix(x)
        x = self.norm(residual)
        return residual + self.mix(x)""",
    "the sum keeps its name and is copied": """
        total = x + self.mix(x)
        residual = total
        y = self.norm(total)
        return residual + total + y""",
    "inside of the norm's call": """
        residual = x
        x = self.norm(residual + self.mix(x))
        return x + residual""",
    "the sum is not needed": """
        x = x + self.mix(x)
        x = self.norm(x)
        return self.mix(x)""",
}


@pytest.mark.parametrize("body", ADD_NORM_FIRES.values(), ids=ADD_NORM_FIRES)
def test_add_rms_norm_fires(body, import_text, tmp_path):
    source = assert_equal(_layer(import_text, body), [ADD_NORM], tmp_path / "out")
    assert "torch.ops.workbench.add_rms_norm(" in source and "self.norm(" not in source


ADD_NORM_TRAPS = {
    "something between": ("""
        residual = x
        x = residual + self.mix(x)
        self.scale = x.mean()
        residual = x
        x = self.norm(x)
        return residual + x""", "stands between the sum and its norm"),
    "changed between": ("""
        residual = x
        x = residual + self.mix(x)
        x = x * 2
        x = self.norm(x)
        return residual + x""", "is not set by a sum"),
    "a difference": ("""
        residual = x
        x = residual - self.mix(x)
        x = self.norm(x)
        return residual + x""", "is not set by a sum"),
    "written in place": ("""
        residual = self.mix(x)
        x = residual * 2
        x += residual
        x = self.norm(x)
        return residual + x""", "is not set by a plain assignment"),
    "two copies": ("""
        x = x + self.mix(x)
        one = x
        two = x
        x = self.norm(x)
        return one + two + x""", "is copied to several names"),
    "norm called twice": ("""
        x = x + self.mix(x)
        y = self.norm(x)
        return x + y + self.norm(y)""", "self.norm is used 2 times"),
    "norm in an expression": ("""
        x = x + self.mix(x)
        return x + self.norm(x)""", "is not assigned to a plain name"),
    "the input itself": ("""
        y = self.norm(x)
        return x + y""", "is not set in the same block"),
    "in another branch": ("""
        x = x + self.mix(x)
        if self.scale:
            y = self.norm(x)
            return x + y
        return x""", "is not set in the same block"),
    "in a loop": ("""
        for _ in range(2):
            x = x + self.mix(x)
            x = self.norm(x)
        return x""", "stands in a loop"),
}


@pytest.mark.parametrize("body, expected", ADD_NORM_TRAPS.values(), ids=ADD_NORM_TRAPS)
def test_add_rms_norm_trap(body, expected, import_text, tmp_path):
    assert expected in refusal_reason(_layer(import_text, body), ADD_NORM, tmp_path / "out")


def test_another_sum_than_planned(import_text, tmp_path):
    model = _layer(import_text, ADD_NORM_FIRES["llama"])
    end = type(model.part).forward.__code__.co_firstlineno + 8
    file = type(model.part).forward.__code__.co_filename
    site = Site(ADD_NORM.id, "add-rms-norm", "part.norm", (Node("aten.add.Tensor", "part", "add", file, end, "forward"),), ADD_NORM.params)
    assert "the plan's sum is at line" in refusal_reason(model, site, tmp_path / "out")


ROTATION = """
def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def rotate_pairs(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)


def rotate(q, k, cos, sin, unsqueeze_dim=1):
    cos = cos.unsqueeze(unsqueeze_dim)
    sin = sin.unsqueeze(unsqueeze_dim)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


"""

ROTARY = NORM_CLASS + ROTATION + """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_norm = Norm()
        self.k_norm = Norm({key_epsilon})
        self.other = nn.Linear(8, 8)

    def forward(self, x):
        angles = torch.linspace(0.0, 3.0, x.shape[1])[None, :, None] * torch.ones(8)
        cos, sin = angles.cos(), angles.sin()
        shape = (*x.shape[:-1], -1, 8)
{body}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)
"""

ROPE = Site("rope@part", "rope", "part", (), {"style": "half"})
QK = Site("qk-norm-rope@part", "qk-norm-rope", "part", (),
          {"query_weight": "part.q_norm.weight", "key_weight": "part.k_norm.weight", "eps": 1e-3, "weight_offset": 0.0,
           "cast": "before_weight", "style": "half"})
SHAPE = (2, 5, 16)
RESULT = "return torch.cat([q, k], dim=-1)"


def _rotary(import_text, body: str, key_epsilon: str = "", **changes: str):
    text = ROTARY.replace("{key_epsilon}", key_epsilon).replace("{body}", textwrap.indent(textwrap.dedent(body).strip("\n"), "        "))
    for before, after in changes.values():
        assert before in text
        text = text.replace(before, after)
    return toy_model(import_text(text))


PLAIN_ROPE = f"""
    q = x.view(shape).transpose(1, 2)
    k = (x * 2).view(shape).transpose(1, 2)
    q, k = rotate(q, k, cos, sin)
    {RESULT}"""


def test_rope_fires(import_text, tmp_path):
    source = assert_equal(_rotary(import_text, PLAIN_ROPE), [ROPE], tmp_path / "out", *SHAPE)
    assert 'torch.ops.workbench.rope(q, k, cos, sin, style="half")' in source


def test_rope_interleaved(import_text, tmp_path):
    model = _rotary(import_text, PLAIN_ROPE, q=("rotate_half(q)", "rotate_pairs(q)"), k=("rotate_half(k)", "rotate_pairs(k)"))
    site = Site("rope@part", "rope", "part", (), {"style": "interleaved"})
    assert 'style="interleaved"' in assert_equal(model, [site], tmp_path / "out", *SHAPE)


def test_rope_casts_back(import_text, tmp_path):
    """Tables in another dtype than the input: results come back in the input's."""
    model = _rotary(import_text, PLAIN_ROPE.replace("= rotate", "= rotate").replace("cos, sin)", "wide_cos, wide_sin)")
                    .replace("    q = x", "    wide_cos, wide_sin = cos.double(), sin.double()\n    q = x", 1),
                    result=("return q_embed, k_embed", "return q_embed.to(q.dtype), k_embed.to(k.dtype)"))
    source = assert_equal(model, [ROPE], tmp_path / "out", *SHAPE)
    assert "q.to(wide_cos.dtype)" in source


ROPE_TRAPS = {
    "subtracted": (dict(a=("(q * cos) + ", "(q * cos) - ")), PLAIN_ROPE, "computes something else than"),
    "query alone": (dict(a=("(k * cos) + (rotate_half(k) * sin)", "k * 1")), PLAIN_ROPE, "computes something else than"),
    "turned the other way": (dict(a=("torch.cat((-x2, x1)", "torch.cat((x2, -x1)")), PLAIN_ROPE, "computes something else than"),
    "a third of the width": (dict(a=("x.shape[-1] // 2 :", "x.shape[-1] // 3 :")), PLAIN_ROPE, "computes something else than"),
    "tables swapped": (dict(a=("(q * cos) + (rotate_half(q) * sin)", "(q * sin) + (rotate_half(q) * cos)")), PLAIN_ROPE,
                       "computes something else than"),
    "key by another style": (dict(a=("rotate_half(k)", "rotate_pairs(k)")), PLAIN_ROPE, "computes something else than"),
    "tables not for heads": (dict(a=("unsqueeze_dim=1", "unsqueeze_dim=2")), PLAIN_ROPE, "computes something else than"),
    "heads and tokens as they are": ({}, f"""
        q, k = x.view(shape), x.view(shape)
        q, k = rotate(q, k, cos, sin, unsqueeze_dim=2)
        {RESULT}""", "has other arguments than"),
    "called twice": ({}, f"""
        q, k = x.view(shape).transpose(1, 2), x.view(shape).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "calls a known rotary function 2 times"),
    "a branch in it": (dict(a=("    q_embed =", "    if cos is None:\n        return q, k\n    q_embed =")), PLAIN_ROPE,
                       "calls a known rotary function 0 times"),
    "another style than planned": (dict(a=("rotate_half(q)", "rotate_pairs(q)"), b=("rotate_half(k)", "rotate_pairs(k)")), PLAIN_ROPE,
                                   "the plan says the style = 'half'"),
}


@pytest.mark.parametrize("changes, body, expected", ROPE_TRAPS.values(), ids=ROPE_TRAPS)
def test_rope_trap(changes, body, expected, import_text, tmp_path):
    assert expected in refusal_reason(_rotary(import_text, body, **changes), ROPE, tmp_path / "out")


QK_FIRES = {
    "qwen3": f"""
        q = self.q_norm(x.view(shape)).transpose(1, 2)
        k = self.k_norm((x * 2).view(shape)).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""",
    "gemma3": f"""
        q = x.view(shape).transpose(1, 2)
        k = (x * 2).view(shape).transpose(1, 2)
        q = self.q_norm(q)
        k = self.k_norm(k)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""",
    "one name a step": f"""
        q = x.view(shape)
        q_normed = self.q_norm(q)
        q_turned = q_normed.transpose(1, 2)
        k = self.k_norm((x * 2).view(shape).transpose(2, 1))
        q, k = rotate(q_turned, k, cos, sin)
        {RESULT}""",
}


@pytest.mark.parametrize("body", QK_FIRES.values(), ids=QK_FIRES)
def test_qk_norm_rope_fires(body, import_text, tmp_path):
    source = assert_equal(_rotary(import_text, body), [QK], tmp_path / "out", *SHAPE)
    assert "torch.ops.workbench.qk_norm_rope(" in source and "self.q_norm(" not in source and "transpose" not in source


QK_TRAPS = {
    "scaled between": (f"""
        q = self.q_norm(x.view(shape)).transpose(1, 2) * 2
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "stands between the projection and the rotary call"),
    "scaled between norm and transposition": (f"""
        q = (self.q_norm(x.view(shape)) * 2).transpose(1, 2)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "stands between the projection and the rotary call"),
    "normed value read elsewhere": (f"""
        q = self.q_norm(x.view(shape)).transpose(1, 2)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        extra = q.mean()
        q, k = rotate(q, k, cos, sin)
        {RESULT} * extra""", "is read 2 times"),
    "another transposition": (f"""
        q = self.q_norm(x.view(shape)).transpose(0, 1)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "stands between the projection and the rotary call"),
    "key without a norm": (f"""
        q = self.q_norm(x.view(shape)).transpose(1, 2)
        k = x.view(shape).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "stands between the projection and the rotary call"),
    "no norm but a linear": (f"""
        q = self.other(x.view(shape)).transpose(1, 2)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "is not part of a computation that is known"),
    "norm under a condition": (f"""
        q = x.view(shape).transpose(1, 2)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        if self.training:
            q = self.q_norm(q)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "not set by a plain assignment"),
    "written in place": (f"""
        q = self.q_norm(x.view(shape)).transpose(1, 2)
        k = self.k_norm(x.view(shape)).transpose(1, 2)
        x.mul_(2)
        q, k = rotate(q, k, cos, sin)
        {RESULT}""", "the in-place call mul_"),
}


@pytest.mark.parametrize("body, expected", QK_TRAPS.values(), ids=QK_TRAPS)
def test_qk_norm_rope_trap(body, expected, import_text, tmp_path):
    assert expected in refusal_reason(_rotary(import_text, body), QK, tmp_path / "out")


def test_norms_with_different_epsilon(import_text, tmp_path):
    site = Site(QK.id, QK.pattern, QK.module, (), {key: value for key, value in QK.params.items() if key != "eps"})
    model = _rotary(import_text, QK_FIRES["qwen3"], key_epsilon="1e-1")
    assert "differ in epsilon" in refusal_reason(model, site, tmp_path / "out")


@pytest.mark.parametrize("first, second", ((QK, ROPE), (ROPE, QK)), ids=lambda site: site.pattern)
def test_of_overlapping_sites_the_first_keeps_the_lines(first, second, import_text, tmp_path):
    """A plan never has both; if one did, the larger pattern stands before the other."""
    from pathlib import Path

    from workbench_tracer.source_form.emit import emit
    from workbench_tracer.source_form.request import Request

    (tmp_path / "out").mkdir()
    index = emit(Request(Path("toy"), False, {}, (first, second)), _rotary(import_text, QK_FIRES["qwen3"]), tmp_path / "out")
    assert index["sites"][first.id]["form"] and "would change the same lines" in index["sites"][second.id]["reason"]
