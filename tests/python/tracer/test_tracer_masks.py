"""What a mask function means is read from its closure; whatever is not plainly known is refused."""

import json

import pytest
import torch
import transformers
import zoo
from tracer_support import refusal, trace
from transformers import masking_utils as masks
from workbench_tracer.errors import TracerError
from workbench_tracer.masks import Mask, read_mask

PACKED = masks.packed_sequence_mask_function(torch.zeros(1, 3))


def remapped(function):
    return masks.and_masks(masks.remap_positions_for_packed_sequence(function, torch.zeros(1, 3)), PACKED)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (masks.causal_mask_function, Mask("causal", 0)),
        (remapped(masks.causal_mask_function), Mask("causal", 0)),
        (masks.sliding_window_causal_mask_function(7), Mask("sliding", 7)),
        (remapped(masks.sliding_window_causal_mask_function(7)), Mask("sliding", 7)),
        (masks.chunked_causal_mask_function(9, torch.zeros(1)), Mask("chunked", 9)),
        (masks.bidirectional_mask_function, Mask("full", 0)),
    ],
)
def test_known_masks(function, expected):
    assert read_mask(function) == expected


def own_mask(batch_idx, head_idx, q_idx, kv_idx):
    return kv_idx <= q_idx


def causal_mask_function(batch_idx, head_idx, q_idx, kv_idx):
    """Named like the one of transformers."""
    return kv_idx <= q_idx + 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (own_mask, "own_mask"),
        (causal_mask_function, "of its own"),
        (masks.or_masks(masks.causal_mask_function, masks.causal_mask_function), "or_masks"),
        (masks.sliding_window_overlay(7), "sliding 7"),
        (masks.sliding_window_bidirectional_mask_function(7), "sliding_window_bidirectional_overlay"),
        (masks.padding_mask_function(torch.ones(1, 3)), "padding_mask_function"),
        (
            masks.and_masks(masks.sliding_window_causal_mask_function(7), masks.sliding_window_overlay(5)),
            "sliding 5 and sliding 7",
        ),
        (masks.and_masks(masks.chunked_causal_mask_function(4, torch.zeros(1)), masks.sliding_window_overlay(5)), "chunked 4"),
        (masks.and_masks(masks.causal_mask_function, masks.bidirectional_mask_function), "causal and full"),
        (masks.and_masks(masks.causal_mask_function, own_mask), "own_mask"),
        (masks.sliding_window_causal_mask_function(0), "0"),
        (masks.blockwise_overlay(torch.zeros(1, 3)), "blockwise_overlay"),
    ],
)
def test_other_masks_are_refused_by_name(function, words):
    with pytest.raises(TracerError) as caught:
        read_mask(function)
    assert words in caught.value.message and caught.value.exit_status == 4


def test_bidirectional_gemma3_is_refused(tmp_path):
    settings = transformers.Gemma3TextConfig(**zoo.ZOO["gemma3"].config, architectures=["Gemma3ForCausalLM"])
    settings.use_bidirectional_attention = True
    settings.save_pretrained(tmp_path / "model")
    assert refusal(tmp_path / "model", tmp_path / "out").code == "mask"


def test_a_mask_that_no_layer_gets_does_not_matter(tmp_path):
    """Qwen2-MoE always makes its sliding mask, of no token where windows are off."""
    transformers.Qwen2MoeConfig(
        **zoo._common(num_hidden_layers=2, moe_intermediate_size=36, shared_expert_intermediate_size=44, num_experts=4),
        architectures=["Qwen2MoeForCausalLM"],
    ).save_pretrained(tmp_path / "model")
    assert {(call["mask"], call["window"]) for call in trace(tmp_path / "model", tmp_path / "out").calls()} == {("causal", 0)}


def test_bloom_is_refused(tmp_path):
    """BLOOM never calls the interface: a mask function that returns nothing would lose its causality in silence."""
    transformers.BloomConfig(
        vocab_size=99,
        hidden_size=32,
        n_layer=2,
        n_head=4,
        architectures=["BloomForCausalLM"],
        bos_token_id=None,
        eos_token_id=None,
    ).save_pretrained(tmp_path / "model")
    error = refusal(tmp_path / "model", tmp_path / "out")
    assert "BloomForCausalLM" in error.message and error.exit_status == 4


def refused(own_model, tmp_path, **parts):
    return refusal(own_model(**parts), tmp_path / "out", trust_remote_code=True)


def test_a_mask_used_outside_of_the_attention_call_is_refused(own_model, tmp_path):
    """As BLOOM's softmax of its own does."""
    error = refused(own_model, tmp_path, loop="hidden_states = hidden_states + mask.to(hidden_states.dtype).sum() * 0.001")
    assert error.code == "mask" and "outside of the attention interface" in error.message and "modeling_own.py:" in error.message


def test_a_changed_mask_is_refused(own_model, tmp_path):
    error = refused(own_model, tmp_path, attention_forward="attention_mask = attention_mask & attention_mask.transpose(2, 3)")
    assert error.code == "mask" and "a mask that it changed itself" in error.message and "layer 0" in error.message


def test_a_dropped_mask_is_refused(own_model, tmp_path):
    error = refused(own_model, tmp_path, attention_forward="attention_mask = None")
    assert error.code == "mask" and "gets no mask" in error.message


def test_a_window_in_the_call_only_is_refused(own_model, tmp_path):
    error = refused(own_model, tmp_path, attention_forward="kwargs['sliding_window'] = 5")
    assert error.code == "mask" and "window of 5" in error.message and "causal" in error.message


def test_an_unknown_argument_of_the_call_is_refused(own_model, tmp_path):
    error = refused(own_model, tmp_path, attention_forward="kwargs['position_bias'] = hidden_states")
    assert error.code == "attention-argument" and "position_bias" in error.message


def test_a_mask_function_of_the_model_is_refused(own_model, tmp_path):
    error = refused(
        own_model, tmp_path,
        model_forward="mask = create_causal_mask(config=self.config, inputs_embeds=hidden_states, attention_mask=None, cache=None,"
        " position_ids=position_ids, or_mask_function=lambda b, h, q, k: q == k)",
    )  # fmt: skip
    assert error.code == "mask" and "or_masks" in error.message


def test_the_mask_decides_where_the_call_names_no_window(own_model, tmp_path):
    forward = (
        "import copy; config = copy.copy(self.config); config.sliding_window = 4; mask = create_sliding_window_causal_mask(config=config,"
        " inputs_embeds=hidden_states, attention_mask=None, cache=None, position_ids=position_ids)"
    )
    calls = trace(own_model(model_forward=forward), tmp_path / "out", trust_remote_code=True, proof=False).calls()
    assert {(call["mask"], call["window"]) for call in calls} == {("sliding", 4)}


def test_windows_of_the_configuration_reach_the_op(tmp_path):
    directory = zoo.save_config("starcoder2", tmp_path / "model")
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "sliding_window": 11}))
    assert {call["window"] for call in trace(directory, tmp_path / "out").calls()} == {11}
