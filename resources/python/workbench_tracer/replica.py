"""A model of the same classes at a reduced size with random weights, small enough to run for real."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from transformers import PreTrainedConfig, PreTrainedModel

WINDOW = 5
VOCABULARY = 211
HEAD_WIDTH = 16
# Wide enough for a rotary width of 2 under a partial factor of 0.02.
MAX_HEAD_WIDTH = 128
# Room for the sequences of the proof, where a model has less.
CONTEXT = 64

# No powers of two and no two alike, so that a swapped dimension cannot go unnoticed.
_WIDTHS = {
    "intermediate_size": 108, "ffn_dim": 108, "n_inner": 108, "moe_intermediate_size": 36, "shared_expert_intermediate_size": 44,
    "intermediate_size_mlp": 52, "shared_intermediate_size": 44, "q_lora_rank": 20, "kv_lora_rank": 24, "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 12, "qk_head_dim": 20, "v_head_dim": 10, "vocab_size": VOCABULARY, "vocab_size_per_layer_input": VOCABULARY,
    "sliding_window": WINDOW, "attention_chunk_size": WINDOW,
}  # fmt: skip
_AT_MOST = {
    "num_experts": 8,
    "num_local_experts": 8,
    "n_routed_experts": 8,
    "moe_num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_k": 2,
    "moe_topk": 2,
    "n_group": 2,
    "topk_group": 1,
}
_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id")


def reduced_config(config: PreTrainedConfig) -> PreTrainedConfig:
    """Ratios that change the code's path are kept: grouped queries, a query width that differs from the hidden width, shared experts."""
    small = copy.deepcopy(config)
    head_width = _head_width(config)
    _reduce_heads(config, small, head_width)
    if share := _rotary_share(config):
        _set(small, "rotary_dim", int(head_width * share))
    for name, value in _WIDTHS.items():
        if _number(config, name):
            _set(small, name, value)
        elif isinstance(per_layer := getattr(config, name, None), list):
            _set(small, name, [value] * len(per_layer))
    if 0 < _number(config, "qk_rope_head_dim") == _number(config, "head_dim"):
        _set(small, "head_dim", _WIDTHS["qk_rope_head_dim"])
    for name, value in _AT_MOST.items():
        if _number(config, name):
            _set(small, name, min(_number(config, name), value))
    for name in _TOKENS:
        _set(small, name, None)
    if 0 < _number(config, "max_position_embeddings") < CONTEXT:
        _set(small, "max_position_embeddings", CONTEXT)
    _reduce_rope(small, head_width)
    return small


def _head_width(config: PreTrainedConfig) -> int:
    """The first whose rotary width is even for every partial factor, since halves of an odd one are turned with each other's angles."""
    factors = [group.get("partial_rotary_factor") for group in _rope_groups(config)]
    factors += [getattr(config, name, None) for name in ("partial_rotary_factor", "rotary_pct")]
    factors.append(_rotary_share(config))
    shares = [factor for factor in factors if isinstance(factor, (int, float))]
    fits = (
        width
        for width in range(HEAD_WIDTH, MAX_HEAD_WIDTH + 1, 2)
        if all(int(width * share) % 2 == 0 and int(width * share) > 0 for share in shares)
    )
    return next(fits, HEAD_WIDTH)


def _number(config: PreTrainedConfig, name: str) -> int:
    value = getattr(config, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _set(config: PreTrainedConfig, name: str, value: Any) -> None:
    if hasattr(config, name):
        try:
            setattr(config, name, value)
        except AttributeError:  # a read-only property follows from other fields
            pass


def _rotary_share(config: PreTrainedConfig) -> float | None:
    """Of the head, where the rotary width is a number of its own."""
    heads = _number(config, "num_attention_heads")
    width = _number(config, "head_dim") or (_number(config, "hidden_size") // heads if heads else 0)
    return _number(config, "rotary_dim") / width if 0 < _number(config, "rotary_dim") <= width else None


def _reduce_heads(config: PreTrainedConfig, small: PreTrainedConfig, head_width: int) -> None:
    heads, groups = _number(config, "num_attention_heads"), _number(config, "num_key_value_heads")
    if groups in (0, heads):
        few_heads, few_groups = 3, 3
    elif groups == 1:
        few_heads, few_groups = 5, 1
    else:
        few_heads, few_groups = 6, 2
    width = _number(config, "head_dim")
    hidden = few_heads * head_width
    if width and width * heads != _number(config, "hidden_size"):
        hidden -= HEAD_WIDTH // 2  # the projections are no squares
    for name, value in (
        ("num_attention_heads", few_heads),
        ("num_key_value_heads", few_groups),
        ("hidden_size", hidden),
        ("head_dim", head_width),
    ):
        if _number(config, name):
            _set(small, name, value)


def _rope_groups(config: PreTrainedConfig) -> list[dict[str, Any]]:
    """The rope parameters themselves, and those that they hold for a kind of layers each."""
    parameters = getattr(config, "rope_parameters", None)
    if not isinstance(parameters, dict):
        return []
    return [parameters, *(group for group in parameters.values() if isinstance(group, dict))]


def _reduce_rope(small: PreTrainedConfig, head_width: int) -> None:
    """Factor lists have one number per rotary frequency; a table that is picked by the length is the first one."""
    for group in _rope_groups(small):
        if group.get("rope_type") == "longrope" and (group.get("original_max_position_embeddings") or CONTEXT) < CONTEXT:
            group["original_max_position_embeddings"] = CONTEXT
        for name in ("short_factor", "long_factor"):
            if isinstance(group.get(name), list) and group[name]:
                count = int(head_width * group.get("partial_rotary_factor", 1.0)) // 2
                group[name] = (group[name] * count)[:count]


def randomise(model: PreTrainedModel, seed: int) -> None:
    """Random weights that let every part show in the logits: norm weights too, attention neither uniform nor one-hot."""
    generator = torch.Generator().manual_seed(seed)
    state = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for value in {id(value): value for value in state.values()}.values():
            if not value.dtype.is_floating_point:
                continue
            noise = torch.randn(value.shape, generator=generator)
            if value.dim() < 2:
                value.add_((0.3 if isinstance(value, torch.nn.Parameter) else 0.1) * noise)
            else:
                value.copy_(1.6 / math.sqrt(value.shape[-1]) * noise)
        embedding = model.get_input_embeddings()
        if isinstance(embedding, torch.nn.Embedding):
            embedding.weight.copy_(torch.randn(embedding.weight.shape, generator=generator))
