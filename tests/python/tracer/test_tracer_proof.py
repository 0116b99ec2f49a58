"""The proof can fail: each wrong argument of the attention op is noticed."""

import dataclasses

import pytest
import zoo
from tracer_support import refusal, trace
from transformers import AutoConfig, Gemma3nTextConfig, GPTJConfig, StableLmConfig
from workbench_tracer import plugin
from workbench_tracer.masks import Mask
from workbench_tracer.proof import TOLERANCE
from workbench_tracer.replica import reduced_config

_attention, _read_mask = plugin.attention, plugin.read_mask


@pytest.mark.parametrize("name", ["cohere", "granite", "qwen3"])
def test_a_scale_that_is_wrong_by_five_percent(name, tmp_path, monkeypatch):
    """The smallest effect of all wrong arguments: 0.004 of the largest logit in a Cohere model."""
    monkeypatch.setattr(
        plugin, "attention", lambda *args, scaling=None, **kwargs: _attention(*args, scaling=scaling * 1.05, **kwargs)
    )
    error = refusal(zoo.save_config(name, tmp_path / "model"), tmp_path / "out")
    assert error.code == "not-proven" and "other logits" in error.message and error.exit_status == 4


@pytest.mark.parametrize(
    "wrong",
    [
        lambda mask: dataclasses.replace(mask, window=mask.window + 1) if mask.window else mask,
        lambda mask: Mask("causal", 0),
        lambda mask: Mask("full", 0),
    ],
)
def test_a_wrong_mask(wrong, tmp_path, monkeypatch):
    monkeypatch.setattr(plugin, "read_mask", lambda function: wrong(_read_mask(function)))
    monkeypatch.setattr(plugin, "attention", lambda *args, sliding_window=None, **kwargs: _attention(*args, **kwargs))
    assert refusal(zoo.save_config("gemma2", tmp_path / "model"), tmp_path / "out").code == "not-proven"


def test_a_lost_softcap(tmp_path, monkeypatch):
    monkeypatch.setattr(plugin, "attention", lambda *args, softcap=None, **kwargs: _attention(*args, **kwargs))
    assert refusal(zoo.save_config("gemma2", tmp_path / "model"), tmp_path / "out").code == "not-proven"


def test_values_of_other_heads(tmp_path, monkeypatch):
    monkeypatch.setattr(
        plugin,
        "attention",
        lambda module, query, key, value, *args, **kwargs: _attention(module, query, key, value.flip(1), *args, **kwargs),
    )
    assert refusal(zoo.save_config("llama", tmp_path / "model"), tmp_path / "out").code == "not-proven"


def test_a_softmax_of_its_own_instead_of_the_interface(own_model, tmp_path):
    """A model that computes other numbers when it is traced than in eager."""
    parts = {
        "attention_forward": "hidden_states = hidden_states * (1.0 if self.config._attn_implementation == 'eager' else 1.01)"
    }
    error = refusal(own_model(**parts), tmp_path / "out", trust_remote_code=True)
    assert error.code == "not-proven"


def test_a_model_that_cannot_be_reduced_is_not_proven(own_model, tmp_path):
    parts = {"layer_init": "assert config.vocab_size == 211 and config.hidden_size == 60, 'a size of its own'"}
    error = refusal(own_model(**parts), tmp_path / "out", trust_remote_code=True)
    assert error.code == "not-proven" and "a size of its own" in error.message


def test_without_a_proof_the_trace_says_so(tmp_path):
    assert trace(zoo.save_config("llama", tmp_path / "model"), tmp_path / "out", proof=False).described["proof"] is None


@pytest.mark.parametrize("name", ["gemma2", "qwen3-moe", "smollm3"])
def test_what_the_proof_records(name, traced):
    proof = traced(name).described["proof"]
    assert proof["relative_error"] <= proof["tolerance"] == TOLERANCE, "0 is possible: the same sums in the same order"
    assert proof["sequences"] == [13, 20] and min(proof["sequences"]) > 5


def test_depth_is_reduced_as_far_as_every_kind_stays(tmp_path, monkeypatch):
    from workbench_tracer import proof

    built = []
    original = proof.reduced_config
    monkeypatch.setattr(proof, "FEW_LAYERS", 2)
    monkeypatch.setattr(proof, "reduced_config", lambda config: built.append(config.num_hidden_layers) or original(config))
    found = trace(zoo.save_config("gemma3", tmp_path / "model"), tmp_path / "out", full=True)
    assert built == [3] and found.described["proof"]["relative_error"] < TOLERANCE, "layers 0 and 1 slide, layer 2 sees all"


@pytest.mark.parametrize("factor", [0.1, 0.2, 0.25, 0.6])
def test_the_rotary_width_is_even_at_any_partial_factor(factor, tmp_path):
    """StableLM does not run at an odd one."""
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": factor}
    StableLmConfig(
        vocab_size=211, hidden_size=320, intermediate_size=108, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        rope_parameters=rope, architectures=["StableLmForCausalLM"],
    ).save_pretrained(tmp_path / "model")  # fmt: skip
    assert trace(tmp_path / "model", tmp_path / "out").described["proof"]["relative_error"] <= TOLERANCE
    small = reduced_config(AutoConfig.from_pretrained(tmp_path / "model"))
    rotary = int(small.hidden_size // small.num_attention_heads * factor)
    assert rotary % 2 == 0 and rotary > 0


def test_a_rotary_width_of_its_own_is_reduced_with_the_head(tmp_path):
    """GPT-J turns 64 of 256 dimensions, more than a head of the small model has."""
    GPTJConfig(
        vocab_size=211, n_embd=1024, n_layer=2, n_head=4, rotary_dim=64, n_positions=256, architectures=["GPTJForCausalLM"]
    ).save_pretrained(tmp_path / "model")
    assert trace(tmp_path / "model", tmp_path / "out").described["proof"]["relative_error"] <= TOLERANCE


def gemma3n(directory, layers, shared):
    """Its inner model has an _init_weights that only works on that one; `shared` last layers use the keys of earlier ones."""
    Gemma3nTextConfig(
        vocab_size=211, vocab_size_per_layer_input=211, hidden_size=60, hidden_size_per_layer_input=12, intermediate_size=108,
        num_hidden_layers=layers, num_attention_heads=6, num_key_value_heads=2, head_dim=16, max_position_embeddings=256,
        sliding_window=5, laurel_rank=8, num_kv_shared_layers=shared, architectures=["Gemma3nForCausalLM"],
        activation_sparsity_pattern=[0.95] * 2 + [0.0] * (layers - 2),
        layer_types=(["sliding_attention", "full_attention"] * layers)[:layers],
    ).save_pretrained(directory)  # fmt: skip
    return directory


@pytest.mark.parametrize(("layers", "shared"), [(6, 2), (12, 8)])
def test_keys_that_layers_share_are_proven(layers, shared, tmp_path):
    """Where eight share, twelve layers cannot be cut to eight for the proof: none would be left that makes keys."""
    proof = trace(gemma3n(tmp_path / "model", layers, shared), tmp_path / "out").described["proof"]
    assert proof["relative_error"] <= TOLERANCE


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 3.0},
        {"rope_type": "longrope", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 8}
        | {"short_factor": [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], "long_factor": [2.0] * 6},
    ],
)
def test_a_context_shorter_than_the_sequences_of_the_proof(rope, tmp_path):
    settings = zoo.config("llama")
    settings.max_position_embeddings = 16
    settings.rope_parameters = rope
    settings.save_pretrained(tmp_path / "model")
    proof = trace(tmp_path / "model", tmp_path / "out").described["proof"]
    assert proof["relative_error"] <= TOLERANCE
