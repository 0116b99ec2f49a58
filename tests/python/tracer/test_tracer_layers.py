"""Which layers may stand for others. A layer that is told apart for nothing costs seconds; one that is not told apart gives wrong numbers."""

import functools
import math

import pytest
import torch
from torch import nn
from tracer_support import trace
from workbench_tracer.layers import cut_config
from workbench_tracer.same_modules import Comparison, Different, Side, Unsure

# --- whole models ---


def layers_of(directory, tmp_path):
    described = trace(directory, tmp_path / "out", trust_remote_code=True, proof=False).described
    return described["layers"] and described["layers"]["traced_as"], " ".join(described["warnings"])


def test_equal_layers_with_own_code_are_traced_once(own_model, tmp_path):
    assert layers_of(own_model(), tmp_path) == ([0, 0, 0, 0], "")


@pytest.mark.parametrize(
    "difference",
    [
        "self.factor = 1.0 if layer_idx != 2 else 1.0000000000000002",
        "self.input_layernorm.variance_epsilon = 1e-5 if layer_idx != 2 else 1e-6",
        "self.register_buffer('shift', torch.full((3,), float(layer_idx == 2)), persistent=False)",
        "self.table = {'a': (1, 2), 'b': [3, {'c': 4 + (layer_idx == 2)}]}",
        "self.mlp.act_fn = nn.SiLU() if layer_idx != 2 else nn.GELU()",
        "self.scale_by = (lambda x: x * 2) if layer_idx != 2 else (lambda x: x * 3)",
        "self.scale_by = (lambda factor: lambda x: x * factor)(2.0 if layer_idx != 2 else 3.0)",
        "self.self_attn.scaling = self.self_attn.scaling * (1 + 1e-12 * (layer_idx == 2))",
        "self.extra = nn.Linear(3, 3) if layer_idx == 2 else None",
        "self.position = layer_idx // 2 * 2 if layer_idx != 1 else 2",
    ],
)
def test_one_different_value_tells_a_layer_apart(difference, own_model, tmp_path):
    extra = "\n    def _init_weights(self, module):\n        super()._init_weights(module)\n        if hasattr(module, 'shift'):\n            nn.init.constant_(module.shift, float(module.layer_idx == 2))\n"
    directory = own_model(layer_init=difference)
    code = (directory / "modeling_own.py").read_text()
    # transformers asks the innermost model around a module, which the layers are part of.
    inner = "class OwnModel(LlamaModel):\n"
    (directory / "modeling_own.py").write_text(code.replace(inner, inner + extra.lstrip("\n") + "\n") + extra)
    found, warnings = layers_of(directory, tmp_path)
    expected = [0, 1, 1, 1] if "position" in difference else [0, 0, 2, 0]
    assert found == expected, warnings


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"layer_forward": "hidden_states = hidden_states * (1.0 + 0.01 * self.layer_idx)"}, "compute with their number"),
        (
            {"attention_forward": "hidden_states = hidden_states * [1.0, 2.0, 3.0, 4.0][self.layer_idx]"},
            "compute with their number",
        ),
        ({"layer_forward": "hidden_states = hidden_states + torch.tensor(self.layer_idx)"}, "compute with their number"),
        ({"layer_forward": "hidden_states = hidden_states + torch.full((1,), self.layer_idx)"}, "compute with their number"),
        ({"layer_forward": "hidden_states = hidden_states + torch.tensor(float(self.layer_idx))"}, "compute with their number"),
        (
            {"attention_forward": "hidden_states = hidden_states * 2 if self.layer_idx == 2 else hidden_states"},
            "compute with their number",
        ),
        ({"loop": "hidden_states = hidden_states * (1.0 + 0.01 * number)"}, "the output of the layer before it"),
        ({"loop": "hidden_states = hidden_states + 1.0 if number == 2 else hidden_states"}, "the output of the layer before it"),
        ({"layer_init": "self.secret = object()"}, "not certain"),
        ({"layer_init": "self.table = torch.tensor([float(layer_idx)])"}, "not certain"),
    ],
)
def test_whole_model_is_traced_where_equality_is_not_certain(parts, reason, own_model, tmp_path):
    found, warnings = layers_of(own_model(**parts), tmp_path)
    assert found is None and reason in warnings


def test_numbers_that_a_layer_makes_into_tensors_are_known_for_its_copies(own_model, tmp_path):
    parts = {"layer_forward": "hidden_states = hidden_states * torch.tensor(1.1) + hidden_states.new_tensor([0.1])"}
    found = trace(own_model(**parts), tmp_path / "out", trust_remote_code=True, proof=False)
    assert found.described["layers"]["traced_as"] == [0, 0, 0, 0] and not found.described["warnings"]
    made = [name.split(".") for name in found.constants if "lifted" in name]
    assert sorted(number for _, _, number, _ in made) == ["0", "0", "1", "1", "2", "2", "3", "3"]


@pytest.mark.parametrize(
    "loop",
    [
        "position_embeddings = self.rotary_emb(hidden_states, position_ids=position_ids + (number == 2))",
        "mask = create_sliding_window_causal_mask(config=self.window_config, inputs_embeds=hidden_states, attention_mask=None, cache=None,"
        " position_ids=position_ids) if number == 2 else plain",
    ],
)
def test_other_arguments_from_the_model_tell_layers_apart(loop, own_model, tmp_path):
    """Equal modules, but the loop around them hands them other tables or masks."""
    forward = "plain = mask; import copy; self.window_config = copy.copy(self.config); self.window_config.sliding_window = 4"
    found, warnings = layers_of(own_model(loop=loop, model_forward=forward), tmp_path)
    assert found is None or found[2] not in (found[0], found[1]), warnings


def test_the_embedding_handed_to_all_layers_is_not_taken_for_the_hidden_state(own_model, tmp_path):
    """The first layer gets one value twice, the others two values: copied, it would read its hidden state twice everywhere."""
    parts = {
        "model_forward": "first = hidden_states",
        "loop": "position_embeddings = (*position_embeddings[:2], first)",
        "layer_forward": "*tables, first = kwargs.pop('position_embeddings'); kwargs['position_embeddings'] = tuple(tables); "
        "hidden_states = hidden_states + 0.5 * first",
    }
    assert layers_of(own_model(**parts), tmp_path) == ([0, 1, 1, 1], "")


def test_an_object_that_may_hold_tensors_is_not_handed_on_unseen(own_model, tmp_path):
    parts = {
        "model_forward": "import types; holder = types.SimpleNamespace(first=hidden_states)",
        "loop": "position_embeddings = (*position_embeddings[:2], holder)",
        "layer_forward": "*tables, holder = kwargs.pop('position_embeddings'); kwargs['position_embeddings'] = tuple(tables); "
        "hidden_states = hidden_states + 0.5 * holder.first",
    }
    found, warnings = layers_of(own_model(**parts), tmp_path)
    assert found is None and "SimpleNamespace" in warnings


def test_a_count_that_the_model_computes_with_is_not_cut(own_model, tmp_path):
    parts = {"layer_init": "self.factor = 1.0 / config.num_hidden_layers"}
    found, warnings = layers_of(own_model(**parts), tmp_path)
    assert found is None and "differs in more" in warnings


def test_full_traces_every_layer(own_model, tmp_path):
    described = trace(own_model(), tmp_path / "out", trust_remote_code=True, proof=False, full=True)
    assert described.described["layers"] is None and [call["layer"] for call in described.calls()] == [0, 1, 2, 3]


def test_every_list_with_one_entry_per_layer_is_cut():
    from transformers import Qwen3MoeConfig, SmolLM3Config

    cut = cut_config(SmolLM3Config(num_hidden_layers=8, no_rope_layers=[1, 1, 1, 0] * 2), 8, 4)
    assert (cut.num_hidden_layers, cut.no_rope_layers, len(cut.layer_types)) == (4, [1, 1, 1, 0], 4)
    assert cut_config(Qwen3MoeConfig(num_hidden_layers=6, mlp_only_layers=[0, 5]), 6, 2).mlp_only_layers == [0]


# --- the comparison ---


def verdict(left, right, layer=None):
    try:
        Comparison(Side(()), Side(()), layer=layer).same(left, right)
    except Different:
        return "different"
    except Unsure:
        return "unsure"
    return "same"


class Block(nn.Module):
    def __init__(self, **attributes):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        for name, value in attributes.items():
            setattr(self, name, value)


class Other(Block):
    pass


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Block(), Block(), "same"),
        (Block(), Other(), "different"),
        (Block(a=1), Block(a=1), "same"),
        (Block(a=1), Block(a=2), "different"),
        (Block(a=1), Block(a=True), "different"),
        (Block(a=1), Block(a=1.0), "different"),
        (Block(a=1.0), Block(a=math.nextafter(1.0, 2.0)), "different"),
        (Block(a=0.0), Block(a=-0.0), "different"),
        (Block(a=math.nan), Block(a=math.nan), "same"),
        (Block(a="x"), Block(a="y"), "different"),
        (Block(a=torch.float32), Block(a=torch.bfloat16), "different"),
        (Block(a=(1, [2, {"b": 3.0}])), Block(a=(1, [2, {"b": 3.0}])), "same"),
        (Block(a=(1, [2, {"b": 3.0}])), Block(a=(1, [2, {"b": 3.5}])), "different"),
        (Block(a={"x": 1, "y": 2}), Block(a={"y": 2, "x": 1}), "different"),
        (Block(a={1, 2}), Block(a={2, 1}), "same"),
        (Block(a={1, 2}), Block(a={2, 3}), "different"),
        (Block(a=functools.partial(max, 1)), Block(a=functools.partial(max, 1)), "same"),
        (Block(a=functools.partial(max, 1)), Block(a=functools.partial(max, 2)), "different"),
        (Block(a=max), Block(a=min), "different"),
        (Block(a=torch.zeros(3)), Block(a=torch.zeros(3)), "unsure"),
        (Block(a=object()), Block(a=object()), "unsure"),
        (Block(a=iter([1])), Block(a=iter([1])), "unsure"),
        (Block(extra=nn.Linear(4, 4)), Block(extra=nn.Linear(4, 5)), "different"),
        (Block(extra=nn.Linear(4, 4)), Block(extra=nn.Linear(4, 4, dtype=torch.bfloat16)), "different"),
        (Block(extra=nn.Linear(4, 4)), Block(extra=nn.Linear(4, 4, bias=False)), "different"),
        (Block(extra=nn.Dropout(0.1)), Block(extra=nn.Dropout(0.2)), "different"),
        (Block(), Block().eval(), "different"),
    ],
)
def test_comparison(left, right, expected):
    assert verdict(left, right) == expected


def test_a_layer_number_counts_only_where_it_is_the_position():
    assert verdict(Block(layer_idx=0), Block(layer_idx=3), layer=(0, 3)) == "same"
    assert verdict(Block(layer_idx=0), Block(layer_idx=2), layer=(0, 3)) == "different"
    assert verdict(Block(layer_id=0), Block(layer_id=3), layer=(0, 3)) == "different"


def test_hooks_tell_modules_apart():
    hooked = Block()
    hooked.register_forward_hook(lambda module, inputs, output: output * 2)
    assert verdict(Block(), hooked) == "different"


def test_cycles_end():
    left, right = Block(), Block()
    left.__dict__["own"], right.__dict__["own"] = [left], [right]
    assert verdict(left, right) == "same"
