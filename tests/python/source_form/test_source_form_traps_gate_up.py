"""What the source form of gate-up must not touch: each trap is refused with its reason, or rewritten and equal to what it was."""

from __future__ import annotations

import pytest
from toys import GATE_UP, MLP, assert_equal, refusal_reason, toy_model, toy_source
from workbench_tracer.source_form.request import Site

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
