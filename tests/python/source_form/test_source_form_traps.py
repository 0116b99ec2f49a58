"""What the source forms must not touch: each trap is refused with its reason, or rewritten and equal to what it was."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Callable

import pytest
import torch
from toys import ATTENTION, GATE_UP, MLP, NORM, QKV, assert_equal, norm_site, refusal_reason, toy_emit, toy_model, toy_source
from workbench_tracer.source_form import BindError, bind
from workbench_tracer.source_form.emit import emit
from workbench_tracer.source_form.request import Node, Request, Site

SUM = "return torch.cat([q, k, v], dim=-1)"

QKV_FIRES = {
    "plain": f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}""",
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


PLAIN = QKV_FIRES["plain"]


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
def _tied(part): part.k_proj.weight = part.v_proj.weight
def _subclass(part): part.k_proj = type("LoraLinear", (torch.nn.Linear,), {})(8, 4)


@pytest.mark.parametrize("change, expected", [
    (_mixed_bias, "some have a bias and some have none"),
    (_other_width, "different input widths"),
    (_tied, "shares a parameter"),
    (_subclass, "LoraLinear, not a plain torch.nn.Linear"),
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


GATE_UP_FIRES = {
    "one expression": "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))",
    "operands swapped": "return self.down_proj(self.up_proj(x) * self.act_fn(self.gate_proj(x)))",
    "functional": "return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))",
    "statements": """
        gate = self.gate_proj(x)
        up = self.up_proj(x)
        hidden = self.act_fn(gate) * up
        return self.down_proj(hidden)""",
    "statements that reuse a name": """
        gate = self.gate_proj(x)
        gate = self.act_fn(gate)  # the activation
        up = self.up_proj(x)
        gate = gate * up
        return self.down_proj(gate)""",
}


@pytest.mark.parametrize("body", GATE_UP_FIRES.values(), ids=GATE_UP_FIRES)
def test_gate_up_fires(body, import_text, tmp_path):
    model = toy_model(import_text(toy_source(MLP, body, activation="nn.SiLU()")))
    source = assert_equal(model, [GATE_UP], tmp_path / "out")
    assert 'act_and_mul(self.gate_up_proj(x), activation="silu")' in source


@pytest.mark.parametrize("activation, name", [("nn.GELU()", "gelu"), ("nn.GELU(approximate='tanh')", "gelu_tanh"),
                                              ("nn.ReLU()", "relu"), ("nn.Sigmoid()", "sigmoid")])
def test_gate_up_reads_the_activation(activation, name, import_text, tmp_path):
    model = toy_model(import_text(toy_source(MLP, GATE_UP_FIRES["one expression"], activation=activation)))
    site = Site(GATE_UP.id, "gate-up", "part", (), GATE_UP.params | {"activation": name})
    assert f'activation="{name}"' in assert_equal(model, [site], tmp_path / "out")


GATE_UP_TRAPS = {
    "gate used twice": ("nn.SiLU()", """
        gate = self.gate_proj(x)
        return self.down_proj(self.act_fn(gate) * self.up_proj(x) + gate)""", "gate of"),
    "up used twice": ("nn.SiLU()", """
        up = self.up_proj(x)
        return self.down_proj(self.act_fn(self.gate_proj(x)) * up * up)""", "up of"),
    "a sum, not a product": ("nn.SiLU()", "return self.down_proj(self.act_fn(self.gate_proj(x)) + self.up_proj(x))",
                             "is not multiplied"),
    "scaled gate": ("nn.SiLU()", "return self.down_proj(self.act_fn(2 * self.gate_proj(x)) * self.up_proj(x))",
                    "does not go straight into an activation"),
    "no kernel": ("nn.Tanh()", "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))", "has no fused form"),
    "another activation than planned": ("nn.ReLU()", "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))",
                                        "the plan says the activation = 'silu', the source says 'relu'"),
    "in-place activation": ("nn.SiLU(inplace=True)", "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))",
                            "has no fused form"),
    "activation of both": ("nn.SiLU()", "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.act_fn(self.up_proj(x)))",
                           "is not multiplied"),
    "input changes between": ("nn.SiLU()", """
        gate = self.act_fn(self.gate_proj(x))
        x = x + 1
        return self.down_proj(gate * self.up_proj(x))""", "the input x is rebound"),
}


@pytest.mark.parametrize("activation, body, expected", GATE_UP_TRAPS.values(), ids=GATE_UP_TRAPS)
def test_gate_up_trap(activation, body, expected, import_text, tmp_path):
    model = toy_model(import_text(toy_source(MLP, body, activation=activation)))
    assert expected in refusal_reason(model, GATE_UP, tmp_path / "out")


LLAMA_NORM = """
    dtype = x.dtype
    x = x.to(torch.float32)
    variance = x.pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(variance + self.eps)
    return self.weight * x.to(dtype)"""

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


def test_weights_by_role(import_text, tmp_path):
    nodes = tuple(Node("aten.linear.default", f"part.{role}_proj", role, "", 0, "forward") for role in "kvq")
    assert_equal(toy_model(import_text(toy_source(ATTENTION, PLAIN))), [Site("qkv@part", "qkv", "part", nodes, {})], tmp_path / "out")


def test_gated_norm_has_two_inputs(import_text, tmp_path):
    text = toy_source(NORM, LLAMA_NORM, head="def forward(self, x, gate=None):")
    assert "takes 2 inputs" in refusal_reason(toy_model(import_text(text)), norm_site(), tmp_path / "out")


def test_unknown_pattern(import_text, tmp_path):
    site = Site("mla@part", "mla", "part", (), {})
    assert "no source form is known for the pattern mla" in refusal_reason(toy_model(import_text(toy_source(NORM, LLAMA_NORM))), site, tmp_path / "o")


def _bind_error(change: Callable[[torch.nn.Module], Any], import_text, tmp_path) -> str:
    """Binding is refused after the change, and the model computes as before."""
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    change(model.part)
    names = [name for name, _ in model.named_parameters()]
    with pytest.raises(BindError) as error:
        bind(model, tmp_path / "out")
    assert [name for name, _ in model.named_parameters()] == names
    return str(error.value)


def _hook(part): part.q_proj.register_forward_hook(lambda *_: None)
def _frozen(part): part.q_proj.requires_grad_(False)
def _half(part): part.q_proj.half()
def _taller(part): part.q_proj = torch.nn.Linear(8, 6)


@pytest.mark.parametrize("change, expected", [
    (_hook, "has hooks"), (_frozen, "requires_grad"), (_half, "dtype"), (_subclass, "not a plain torch.nn.Linear"),
    (_tied, "shares a parameter"), (_taller, "has 6 rows"),
])
def test_bind_refuses_what_it_would_lose(change, expected, import_text, tmp_path):
    assert expected in _bind_error(change, import_text, tmp_path)


def test_bind_refuses_a_second_time(import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    bind(model, tmp_path / "out")
    with pytest.raises(BindError, match="set on the instance"):
        bind(model, tmp_path / "out")


def test_bind_refuses_another_file_version(import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    index = tmp_path / "out" / "index.json"
    index.write_text(index.read_text().replace('"source_sha256": "', '"source_sha256": "0'))
    with pytest.raises(BindError, match="is not the file"):
        bind(model, tmp_path / "out")


def _watched_activation(part): part.act_fn.register_forward_hook(lambda *_: None)


def test_bind_refuses_hooks_on_what_an_op_replaces(import_text, tmp_path):
    model = toy_model(import_text(toy_source(MLP, GATE_UP_FIRES["one expression"], activation="nn.SiLU()")))
    toy_emit(model, [GATE_UP], tmp_path / "out")
    _watched_activation(model.part)
    with pytest.raises(BindError, match="act_fn has hooks"):
        bind(model, tmp_path / "out")


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
