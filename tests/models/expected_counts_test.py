"""The hand-made table agrees with itself and with what the eager models do. Independent of tracer and matcher."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch
import zoo

FILE = json.loads((Path(__file__).parent / "expected_counts.json").read_text())
TABLE = FILE["models"]


def test_every_zoo_model_has_expected_counts():
    assert set(zoo.ZOO) <= set(TABLE)


def test_every_pattern_says_what_it_is_counted_of():
    assert {definition["counted"] for definition in FILE["definitions"].values()} == set(FILE["denominators"])


@pytest.mark.parametrize("name", TABLE)
def test_formulas_give_the_counts(name):
    entry = TABLE[name]
    assert set(entry["denominators"]) <= set(FILE["denominators"])
    for pattern, site in entry["patterns"].items():
        values = {"L": entry["layers"], "R": entry.get("rope_layers")}
        assert eval(site["formula"], {"__builtins__": {}}, values) == site["count"]
        assert site["count"] <= entry["denominators"].get(FILE["definitions"][pattern]["counted"], 0)


def _norm_calls(model) -> Counter:
    """How often each norm class is called in one forward pass."""
    calls: Counter = Counter()
    for module in model.modules():
        kind = type(module).__name__
        if kind.endswith("Norm"):
            module.register_forward_hook(lambda *_, kind=kind: calls.update([kind]))
    with torch.no_grad():
        model(input_ids=torch.tensor([zoo.PROMPT]), use_cache=False)
    return calls


@pytest.mark.parametrize("name", zoo.ZOO)
def test_eager_calls_as_many_norms_as_expected(name):
    entry = TABLE[name]
    model = zoo.build(name)
    assert type(model).__name__ == entry["class"]
    assert model.config.num_hidden_layers == entry["layers"]
    calls = _norm_calls(model)
    assert sum(calls.values()) == entry["denominators"]["norms"]
    rms = sum(count for kind, count in calls.items() if kind.endswith("RMSNorm"))
    assert rms == entry["patterns"]["rms-norm"]["count"]


@pytest.mark.parametrize("name", zoo.ZOO)
def test_eager_calls_as_many_attentions_and_rotations_as_expected(name, monkeypatch):
    import importlib

    entry = TABLE[name]
    model = zoo.build(name)
    modeling = importlib.import_module(type(model).__module__)
    calls: Counter = Counter()

    def counted(function_name):
        original = getattr(modeling, function_name)

        def wrapper(*args, **kwargs):
            calls[function_name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(modeling, function_name, wrapper)

    counted("apply_rotary_pos_emb")
    counted("eager_attention_forward")
    with torch.no_grad():
        model(input_ids=torch.tensor([zoo.PROMPT]), use_cache=False)
    assert calls["eager_attention_forward"] == entry["denominators"]["attentions"] == entry["patterns"]["attention"]["count"]
    assert calls["apply_rotary_pos_emb"] == entry["patterns"]["rope"]["count"]


@pytest.mark.parametrize("name", zoo.ZOO)
def test_greedy_text_does_not_loop(name):
    text = zoo.greedy(zoo.build(name))
    assert len(text) == zoo.TEXT_TOKENS
    assert len(set(text)) >= zoo.MIN_DISTINCT
