"""What the source form of qkv must not touch: each trap is refused with its reason, or rewritten and equal to what it was."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch
from toys import ATTENTION, PLAIN, QKV, SUM, assert_equal, refusal_reason, subclass, tied, toy_model, toy_source
from workbench_tracer.source_form.emit import emit
from workbench_tracer.source_form.request import Node, Request, Site

QKV_FIRES = {
    "plain": PLAIN,
    "other order, other lines between": f"""
        v = self.v_proj(x)  # first
        scale = self.scale * 2
        q = self.q_proj(x) * scale
        k = self.k_proj(x)
        {SUM}""",
    "one statement": "return torch.cat([self.q_proj(x), self.k_proj(x), self.v_proj(x)], dim=-1)",
    "input computed before": f"""
        x = x * 2
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        x += 1
        {SUM} * x.mean()""",
    "input rebound after": f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        x = None
        {SUM}""",
    "under a condition": f"""
        if self.merge:
            q = self.q_proj(x)
            k = self.k_proj(x)
            v = self.v_proj(x)
        {SUM}""",
    "a text that spans lines": f'''
        note = """two
    lines"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x) + len(note)
        {SUM}''',
}


@pytest.mark.parametrize("body", QKV_FIRES.values(), ids=QKV_FIRES)
def test_qkv_fires(body, import_text, tmp_path):
    source = assert_equal(toy_model(import_text(toy_source(ATTENTION, body))), [QKV], tmp_path / "out")
    assert "self.qkv_proj(x)" in source and "self.q_proj(" not in source.split("def forward")[1]


QKV_TRAPS = {
    "used twice": (f"""
        q = self.q_proj(x) + self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "self.q_proj is used 2 times"),
    "used for its weight": (f"""
        q = F.linear(x, self.q_proj.weight)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "self.q_proj is used otherwise than in a call"),
    "kept in a name": (f"""
        project = self.q_proj
        q = project(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "self.q_proj is used otherwise than in a call"),
    "looked up by name": (f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x) + getattr(self, "q_proj").weight.mean()
        {SUM}""", "'q_proj' is named in a string"),
    "other inputs": (f"""
        y = x * 2
        q = self.q_proj(x)
        k = self.k_proj(y)
        v = self.v_proj(x)
        {SUM}""", "the inputs differ: x"),
    "an expression as input": (f"""
        q = self.q_proj(x * 2)
        k = self.k_proj(x * 2)
        v = self.v_proj(x * 2)
        {SUM}""", "is an expression, not a name"),
    "input rebound between": (f"""
        q = self.q_proj(x)
        x = x + 1
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "the input x is rebound"),
    "input rebound by a tuple": (f"""
        q = self.q_proj(x)
        x, y = x + 1, 2
        k = self.k_proj(x)
        v = self.v_proj(x) * y
        {SUM}""", "the input x is rebound"),
    "written in place between": (f"""
        q = self.q_proj(x)
        x.mul_(2)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "the in-place call mul_"),
    "written through an alias": (f"""
        y = x.view(-1)
        q = self.q_proj(x)
        y.zero_()
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "the in-place call zero_"),
    "written by index": (f"""
        q = self.q_proj(x)
        x[..., 0] = 0
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "an assignment into a tensor"),
    "augmented assignment": (f"""
        q = self.q_proj(x)
        x += 1
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "an augmented assignment"),
    "out argument": (f"""
        q = self.q_proj(x)
        torch.add(x, 1, out=x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "out or inplace argument"),
    "passed to a module that writes": (f"""
        q = self.q_proj(x)
        self.gate(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "x goes into another call"),
    "an alias passed to a module that writes": (f"""
        y = x.view(-1)
        q = self.q_proj(x)
        self.gate(y)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "y goes into another call"),
    "written inside of the first statement": (f"""
        q = x.mul_(2) + self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "the in-place call mul_"),
    "bound inside of an expression": (f"""
        q = self.q_proj(x)
        k = (x := x * 2).mean() + self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "an assignment inside of an expression"),
    "a projection's value written later": (f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        heads = q.view(-1, 2)
        heads *= 2
        {SUM}""", "writes to a projection's value"),
    "different branches": (f"""
        q = self.q_proj(x)
        if self.merge:
            k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "different branches"),
    "one runs under a condition": (f"""
        q = self.q_proj(x)
        k = self.k_proj(x) if self.merge else x
        v = self.v_proj(x)
        {SUM}""", "runs only under a condition"),
    "in a loop": (f"""
        for _ in range(2):
            q = self.q_proj(x)
            k = self.k_proj(x)
            v = self.v_proj(x)
            x = x + 1
        {SUM}""", "stands in a loop"),
    "in a comprehension": (f"""
        q = torch.stack([self.q_proj(y) for y in x])
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "runs only under a condition or repeatedly"),
    "in a nested function": (f"""
        def query(y):
            return self.q_proj(y)
        q = query(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""", "nested function"),
    "in a try block": (f"""
        try:
            q = self.q_proj(x)
            k = self.k_proj(x)
            v = self.v_proj(x)
        except RuntimeError:
            raise
        {SUM}""", "try or match"),
    "names in use": (f"""
        q_part = k = v = x
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM} + q_part.mean()""", "the names q_part, k_part, v_part that the new lines need are in use"),
    "two statements in a line": (f"""
        y = 1; q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x) * y
        {SUM}""", "shares its line"),
    "super": (f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        super().extra_repr()
        {SUM}""", "uses super"),
    "mangled name": (f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x) * self.__dict__.get("_Attention__x", 1)
        self.__x = 1
        {SUM}""", "mangled name __x"),
}


@pytest.mark.parametrize("body, expected", QKV_TRAPS.values(), ids=QKV_TRAPS)
def test_qkv_trap(body, expected, import_text, tmp_path):
    assert expected in refusal_reason(toy_model(import_text(toy_source(ATTENTION, body))), QKV, tmp_path / "out")


def test_names_q_k_v_in_use_take_others(import_text, tmp_path):
    body = PLAIN.replace("q =", "q = q_old =", 1)
    source = assert_equal(toy_model(import_text(toy_source(ATTENTION, body))), [QKV], tmp_path / "out")
    assert "q_part, k_part, v_part = self.qkv_proj(x)" in source


@pytest.mark.parametrize("extra, expected", [
    ("def other(self):\n    return self.k_proj.weight", "k_proj is also used in Attention.other"),
    ("@property\ndef qkv_proj(self):\n    return 1", "has an attribute qkv_proj already"),
], ids=["another method reads the weight", "generated name in use"])
def test_qkv_other_members(extra, expected, import_text, tmp_path):
    assert expected in refusal_reason(toy_model(import_text(toy_source(ATTENTION, PLAIN, extra=extra))), QKV, tmp_path / "out")


def test_another_class_reaches_in(import_text, tmp_path):
    text = toy_source(ATTENTION, PLAIN).replace("return self.part(x)", "return self.part(x) + self.part.v_proj.weight.mean()")
    assert "v_proj is also reached from outside" in refusal_reason(toy_model(import_text(text)), QKV, tmp_path / "out")


def test_unknown_decorator(import_text, tmp_path):
    text = ("import functools\n\n\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a):\n        return 2 * f(*a)\n    return g\n\n\n"
            + toy_source(ATTENTION, PLAIN, head="@twice\ndef forward(self, x):"))
    assert "has the decorator twice" in refusal_reason(toy_model(import_text(text)), QKV, tmp_path / "out")


def test_known_decorator_is_kept(import_text, tmp_path):
    text = toy_source(ATTENTION, PLAIN, head="@torch.no_grad()\ndef forward(self, x):")
    source = assert_equal(toy_model(import_text(text)), [QKV], tmp_path / "out")
    assert "@torch.no_grad()\ndef forward(self, x):" in source


def test_closure(import_text, tmp_path):
    text = "def make(factor):\n" + textwrap.indent(toy_source(ATTENTION, PLAIN.replace("return torch", "return factor * torch")), "    ")
    assert "closure" in refusal_reason(toy_model(import_text(text + "\n    return Model\n\n\nModel = make(2)\n")), QKV, tmp_path / "out")


def test_source_unavailable(import_text, tmp_path):
    module = import_text(toy_source(ATTENTION, PLAIN))
    Path(module.__file__).unlink()
    assert "source" in refusal_reason(toy_model(module), QKV, tmp_path / "out")


def test_forward_replaced_on_the_class(import_text, tmp_path):
    module = import_text(toy_source(ATTENTION, PLAIN))
    other = import_text(toy_source(ATTENTION, PLAIN.replace("cat", "concat")))
    module.Attention.forward = other.Attention.forward
    assert "replaced after import" in refusal_reason(toy_model(module), QKV, tmp_path / "out")


def test_forward_replaced_on_the_instance(import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    model.part.forward = model.part.forward
    assert "set on the instance" in refusal_reason(model, QKV, tmp_path / "out")


def _mixed_bias(part): part.q_proj = torch.nn.Linear(8, 8, bias=False)
def _other_width(part): part.q_proj = torch.nn.Linear(6, 8)


@pytest.mark.parametrize("change, expected", [
    (_mixed_bias, "some have a bias and some have none"),
    (_other_width, "different input widths"),
    (tied, "shares a parameter"),
    (subclass, "LoraLinear, not a plain torch.nn.Linear"),
])
def test_qkv_layers_that_cannot_merge(change, expected, import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    change(model.part)
    assert expected in refusal_reason(model, QKV, tmp_path / "out")


def test_trace_of_another_file_version(import_text, tmp_path):
    module = import_text(toy_source(ATTENTION, PLAIN))
    node = Node("aten.view.default", "part", "", module.__file__, 9999, "forward")
    site = Site(QKV.id, QKV.pattern, QKV.module, (node,), QKV.params)
    assert "trace again" in refusal_reason(toy_model(module), site, tmp_path / "out")


def test_trace_of_a_changed_file(import_text, tmp_path):
    module = import_text(toy_source(ATTENTION, PLAIN))
    (tmp_path / "out").mkdir()
    index = emit(Request(Path("toy"), False, {module.__file__: "0" * 64}, (QKV,)), toy_model(module), tmp_path / "out")
    assert "its hash differs" in index["sites"][QKV.id]["reason"]


def test_weights_by_role(import_text, tmp_path):
    nodes = tuple(Node("aten.linear.default", f"part.{role}_proj", role, "", 0, "forward") for role in "kvq")
    assert_equal(toy_model(import_text(toy_source(ATTENTION, PLAIN))), [Site("qkv@part", "qkv", "part", nodes, {})], tmp_path / "out")
