"""Small random models that the tests trace, fuse and run.

Every entry is a normal transformers configuration at toy size, with the properties that hide mistakes at real size taken away: the key width
differs from the query width, widths are no powers of two, the window is shorter than the test sequences, norm weights and biases are random.
Weights are scaled so that greedy text does not fall into a loop (see MIN_DISTINCT): equal text then says something.

    python tests/models/zoo.py NAME DIR [--dtype bfloat16] [--shard-bytes N] [--config-only]
    python tests/models/zoo.py --list
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import zlib
from pathlib import Path
from typing import Any

WINDOW = 5
MIN_DISTINCT = 16  # distinct tokens among TEXT_TOKENS greedy ones
TEXT_TOKENS = 24
PROMPT = (3, 17, 5, 29, 11, 2, 23)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One model: its transformers class, its configuration, and how its weights are drawn."""

    model_class: str
    config_class: str
    config: dict[str, Any]
    norm_offset: float = 0.0  # weight that a norm adds to its parameter: 1 for Gemma, whose identity weight is 0
    embedding_std: float = 1.0
    gain: float = 1.6  # a linear layer's outputs have this standard deviation for inputs of standard deviation 1
    seed: int = 0


def _common(**overrides: Any) -> dict[str, Any]:
    config: dict[str, Any] = {
        "vocab_size": 211,
        "hidden_size": 60,
        "intermediate_size": 108,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        # No token ends the text early: the tests compare text of a fixed length.
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    }
    config.update(overrides)
    return config


def _rope(theta: float = 10000.0, **overrides: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": theta, **overrides}


ZOO: dict[str, Entry] = {
    "llama": Entry(
        "LlamaForCausalLM",
        "LlamaConfig",
        _common(
            head_dim=12,
            rms_norm_eps=1e-5,
            rope_parameters=_rope(
                500000.0,
                rope_type="llama3",
                factor=8.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=32,
            ),
        ),
        seed=32,
    ),
    "qwen2": Entry(
        "Qwen2ForCausalLM",
        "Qwen2Config",
        _common(
            num_hidden_layers=4,
            use_sliding_window=True,
            sliding_window=WINDOW,
            max_window_layers=2,
            tie_word_embeddings=True,
            rope_parameters=_rope(1000000.0),
        ),
        embedding_std=0.3,
        seed=41,
    ),
    "qwen3": Entry(
        "Qwen3ForCausalLM",
        "Qwen3Config",
        _common(head_dim=14, rope_parameters=_rope(1000000.0)),
        seed=5,
    ),
    "gemma": Entry(
        "GemmaForCausalLM",
        "GemmaConfig",
        _common(head_dim=16, num_key_value_heads=1, rope_parameters=_rope()),
        norm_offset=1.0,
        embedding_std=0.03,
        seed=85,
    ),
    "gemma2": Entry(
        "Gemma2ForCausalLM",
        "Gemma2Config",
        _common(
            head_dim=14,
            num_hidden_layers=4,
            query_pre_attn_scalar=24,
            sliding_window=WINDOW,
            attn_logit_softcapping=3.0,
            final_logit_softcapping=0.4,
            rope_parameters=_rope(),
        ),
        norm_offset=1.0,
        embedding_std=0.03,
    ),
    "gemma3": Entry(
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        _common(
            head_dim=14,
            num_hidden_layers=4,
            query_pre_attn_scalar=20,
            sliding_window=WINDOW,
            layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters={
                "sliding_attention": _rope(10000.0),
                "full_attention": _rope(1000000.0, rope_type="linear", factor=8.0),
            },
        ),
        norm_offset=1.0,
        embedding_std=0.03,
        seed=45,
    ),
    "olmo2": Entry(
        "Olmo2ForCausalLM",
        "Olmo2Config",
        _common(rope_parameters=_rope(500000.0)),
        seed=8,
    ),
    "granite": Entry(
        "GraniteForCausalLM",
        "GraniteConfig",
        _common(
            attention_bias=True,
            mlp_bias=True,
            embedding_multiplier=3.0,
            residual_multiplier=0.7,
            attention_multiplier=0.21,
            logits_scaling=2.5,
            rope_parameters=_rope(),
        ),
        embedding_std=0.3,
        seed=5,
    ),
    "smollm3": Entry(
        "SmolLM3ForCausalLM",
        "SmolLM3Config",
        _common(
            num_hidden_layers=4,
            no_rope_layers=[1, 0, 1, 0],
            use_sliding_window=True,
            sliding_window=WINDOW,
            tie_word_embeddings=True,
            rope_parameters=_rope(2000000.0),
        ),
        embedding_std=0.3,
    ),
    "starcoder2": Entry(
        "Starcoder2ForCausalLM",
        "Starcoder2Config",
        _common(sliding_window=WINDOW, tie_word_embeddings=True, rope_parameters=_rope()),
        embedding_std=0.3,
        seed=67,
    ),
    # Beyond the models that every pattern must be proven on: other layouts of the same ideas.
    "mistral": Entry(
        "MistralForCausalLM",
        "MistralConfig",
        _common(head_dim=12, sliding_window=WINDOW, rope_parameters=_rope()),
        seed=68,
    ),
    "phi3": Entry(
        "Phi3ForCausalLM",
        "Phi3Config",
        _common(original_max_position_embeddings=256, rope_parameters=_rope(partial_rotary_factor=1.0)),
        seed=55,
    ),
    "qwen3-moe": Entry(
        "Qwen3MoeForCausalLM",
        "Qwen3MoeConfig",
        _common(
            head_dim=14,
            moe_intermediate_size=36,
            num_experts=6,
            num_experts_per_tok=2,
            norm_topk_prob=True,
            mlp_only_layers=[0],
            rope_parameters=_rope(1000000.0),
        ),
        seed=34,
    ),
    "mixtral": Entry(
        "MixtralForCausalLM",
        "MixtralConfig",
        _common(num_local_experts=4, num_experts_per_tok=2, rope_parameters=_rope(1000000.0)),
        seed=59,
    ),
    "olmoe": Entry(
        "OlmoeForCausalLM",
        "OlmoeConfig",
        _common(num_experts=7, num_experts_per_tok=3, norm_topk_prob=False, rope_parameters=_rope()),
        seed=0,
    ),
    "granitemoe": Entry(
        "GraniteMoeForCausalLM",
        "GraniteMoeConfig",
        _common(
            num_local_experts=5,
            num_experts_per_tok=2,
            embedding_multiplier=3.0,
            residual_multiplier=0.7,
            attention_multiplier=0.21,
            logits_scaling=2.5,
            rope_parameters=_rope(),
        ),
        embedding_std=0.3,
        seed=0,
    ),
    "cohere": Entry(
        "CohereForCausalLM",
        "CohereConfig",
        _common(logit_scale=0.25, rope_parameters=_rope()),
        embedding_std=0.3,
        seed=69,
    ),
    "gpt-neox": Entry(
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        {
            key: value
            for key, value in _common(
                num_attention_heads=3, rope_parameters=_rope(partial_rotary_factor=0.3)
            ).items()
            if key != "num_key_value_heads"
        },
        seed=88,
    ),
}

# What every pattern must be proven on; the rest is breadth.
REQUIRED = ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "granite", "smollm3", "starcoder2")


def config(name: str) -> Any:
    """The transformers configuration of a zoo model."""
    import transformers

    entry = ZOO[name]
    return getattr(transformers, entry.config_class)(**entry.config, architectures=[entry.model_class])


def _draw(name: str, parameter: Any, entry: Entry) -> Any:
    """Random values for one parameter, f32. Depends on its name and shape only, so that no model changes when another is added."""
    import torch

    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + entry.seed)
    normal = torch.randn(parameter.shape, generator=generator)
    if name.endswith("bias"):
        return 0.1 * normal
    if "norm" in name.rsplit(".", 2)[-2]:
        return (1.0 - entry.norm_offset) + 0.3 * normal
    if "embed" in name and "embed_out" not in name:
        return entry.embedding_std * normal
    return entry.gain / math.sqrt(parameter.shape[-1]) * normal


def build(name: str, dtype: str = "float32", layers: int | None = None) -> Any:
    """The eager model with its random weights, in evaluation mode. bfloat16 rounds the f32 weights."""
    import torch
    import transformers

    entry = ZOO[name]
    settings = config(name)
    if layers is not None:
        settings.num_hidden_layers = layers
    settings._attn_implementation = "eager"
    with torch.no_grad():
        model = getattr(transformers, entry.model_class)(settings).eval()
        for parameter_name, parameter in model.named_parameters():
            parameter.copy_(_draw(parameter_name, parameter, entry))
    return model.to(getattr(torch, dtype))


def save(name: str, directory: str | Path, dtype: str = "float32", shard_bytes: int | None = None) -> Path:
    """Writes a normal model directory (config.json, safetensors; no tokenizer). shard_bytes splits the weights into several files."""
    directory = Path(directory)
    model = build(name, dtype)
    model.save_pretrained(directory, max_shard_size=shard_bytes or "5GB")
    return directory


def save_config(name: str, directory: str | Path, dtype: str = "float32") -> Path:
    """Writes config.json only: what a planner needs."""
    directory = Path(directory)
    settings = config(name)
    settings.dtype = dtype
    settings.save_pretrained(directory)
    return directory


def greedy(model: Any, prompt: tuple[int, ...] = PROMPT, tokens: int = TEXT_TOKENS) -> list[int]:
    """Greedy text by whole forward passes, no cache: the plainest reference there is."""
    import torch

    ids = list(prompt)
    with torch.no_grad():
        for _ in range(tokens):
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
            ids.append(int(logits.argmax()))
    return ids[len(prompt) :]


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a small random model directory.")
    parser.add_argument("name", nargs="?", choices=list(ZOO))
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--shard-bytes", type=int, help="split the weights into files of about this size")
    parser.add_argument("--config-only", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the names")
    options = parser.parse_args()
    if options.list:
        print("\n".join(ZOO))
        return
    if options.name is None or options.directory is None:
        parser.error("NAME and DIR are needed (--list prints the names)")
    if options.config_only:
        save_config(options.name, options.directory, options.dtype)
    else:
        save(options.name, options.directory, options.dtype, options.shard_bytes)
    print(options.directory)


if __name__ == "__main__":
    main()
