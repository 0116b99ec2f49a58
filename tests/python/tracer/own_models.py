"""Model directories that bring their own code: a small Llama, changed in one place at a time."""

from __future__ import annotations

import json
from pathlib import Path

import zoo

LAYERS = 4

_CODE = """
import torch
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaDecoderLayer, LlamaForCausalLM, LlamaModel
from transformers.modeling_outputs import BaseModelOutputWithPast
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask, causal_mask_function

{before}


class OwnConfig(LlamaConfig):
    model_type = "own"


class OwnAttention(LlamaAttention):
    def __init__(self, config, layer_idx):
        super().__init__(config, layer_idx)
        {attention_init}

    def forward(self, hidden_states, position_embeddings=None, attention_mask=None, **kwargs):
        {attention_forward}
        return super().forward(hidden_states, position_embeddings=position_embeddings, attention_mask=attention_mask, **kwargs)


class OwnLayer(LlamaDecoderLayer):
    def __init__(self, config, layer_idx):
        super().__init__(config, layer_idx)
        self.self_attn = OwnAttention(config, layer_idx)
        self.layer_idx = layer_idx
        self.factor = 1.0
        {layer_init}

    def forward(self, hidden_states, **kwargs):
        hidden_states = hidden_states * self.factor
        {layer_forward}
        return super().forward(hidden_states, **kwargs)


class OwnModel(LlamaModel):
    def __init__(self, config):
        super().__init__(config)
        self.layers = nn.ModuleList([OwnLayer(config, number) for number in range(config.num_hidden_layers)])
        self.post_init()

    def forward(self, input_ids=None, position_ids=None, **kwargs):
        kwargs.pop("attention_mask", None), kwargs.pop("inputs_embeds", None), kwargs.pop("cache", None), kwargs.pop("use_cache", None)
        hidden_states = self.embed_tokens(input_ids)
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1])[None]
        mask = create_causal_mask(
            config=self.config, inputs_embeds=hidden_states, attention_mask=None, cache=None, position_ids=position_ids
        )
        {model_forward}
        position_embeddings = self.rotary_emb(hidden_states, position_ids=position_ids)
        for number, layer in enumerate(self.layers):
            {loop}
            hidden_states = layer(hidden_states, attention_mask=mask, position_embeddings=position_embeddings, position_ids=position_ids)
        return BaseModelOutputWithPast(last_hidden_state=self.norm(hidden_states))


class OwnForCausalLM(LlamaForCausalLM):
    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config)
        self.model = OwnModel(config)
        self.post_init()
"""

_PLACES = ("before", "attention_init", "attention_forward", "layer_init", "layer_forward", "model_forward", "loop")


def write_own_model(directory: Path, **parts: str) -> Path:
    """config.json and modeling_own.py. parts: Python statements for the places in the code above."""
    unknown = parts.keys() - set(_PLACES)
    assert not unknown, unknown
    directory.mkdir(parents=True)
    config = {key: value for key, value in zoo.ZOO["llama"].config.items() if value is not None}
    config.update(
        model_type="own", num_hidden_layers=LAYERS, architectures=["OwnForCausalLM"], dtype="float32",
        auto_map={"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnForCausalLM"},
    )  # fmt: skip
    (directory / "config.json").write_text(json.dumps(config))
    code = _CODE
    for place in _PLACES:
        code = code.replace("{" + place + "}", parts.get(place, "pass"))
    (directory / "modeling_own.py").write_text(code)
    return directory
