"""From a model directory to its configuration and to a model without weights (fake tensors)."""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.core_model_loading import build_glob_alternation
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from . import plugin, rope
from .errors import TracerError, bad_input, not_traced, one_line
from .model_directory import ModelDirectory, read_json

_FLOATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
_LANGUAGE_MODELS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
# Gathers the weights of the chosen experts: the one implementation of transformers that is plain tensor code without a loop over data.
EXPERTS = "batched_mm"


@dataclass(frozen=True)
class Plan:
    """How to build the model. checkpoint_dtype: what the directory says; dtype: what is traced."""

    config: PreTrainedConfig
    model_class: type[PreTrainedModel]
    dtype: torch.dtype
    checkpoint_dtype: str
    warnings: tuple[str, ...]
    text_part: bool = False  # of a model that also sees or hears


def plan_build(directory: ModelDirectory, dtype: str, trust_remote_code: bool) -> Plan:
    """Reads the configuration and finds the causal language model class. Runs no code of the model unless trusted."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    config = load_config(directory, trust_remote_code)
    warnings: list[str] = []
    if getattr(config, "is_encoder_decoder", False):
        raise bad_input(
            "encoder-decoder",
            f"{directory.path} is an encoder-decoder model ({config.model_type}); only decoder-only language models can be planned.",
            directory.path,
        )
    text = config.get_text_config(decoder=True)
    if text_part := text is not config:
        modality = "vision-language" if hasattr(config, "vision_config") else "multimodal"
        warnings.append(
            f"{directory.path} is a {modality} model ({config.model_type}); only its text part ({text.model_type}) is planned."
        )
        # The head belongs to the whole model, whose configuration says whether it is the embedding.
        text.tie_word_embeddings = getattr(config, "tie_word_embeddings", getattr(text, "tie_word_embeddings", False))
        config = text
    _require_language_model(directory)
    _require_layers(directory, config)
    model_class = _model_class(directory, config, trust_remote_code, warnings)
    warnings.extend(rope.warnings(config))
    checkpoint_dtype = _checkpoint_dtype(directory, config)
    return Plan(
        config, model_class, _traced_dtype(dtype, checkpoint_dtype, warnings), checkpoint_dtype, tuple(warnings), text_part
    )


def load_config(directory: ModelDirectory, trust_remote_code: bool) -> PreTrainedConfig:
    """The transformers configuration object. Raises TracerError for unknown kinds and for code that is not trusted."""
    file = directory.path / "config.json"
    model_type = directory.config.get("model_type")
    native = model_type in CONFIG_MAPPING
    if not native and "auto_map" in directory.config and not trust_remote_code:
        raise bad_input(
            "untrusted-code",
            f"{directory.path} brings its own model code ({model_type or 'no model_type'}), which runs only with --trust-remote-code.",
            file,
        )
    if not native and "auto_map" not in directory.config:
        raise bad_input(
            "unknown-model-type",
            f"{file} says model_type {model_type}, which this version of transformers does not know; update transformers or correct it.",
            file,
        )
    try:
        return AutoConfig.from_pretrained(directory.path, trust_remote_code=trust_remote_code, local_files_only=True)
    except Exception as error:  # transformers and foreign code raise anything
        raise bad_input("bad-config", f"{file} does not describe a {model_type} model: {one_line(error)}", file) from error


def _require_language_model(directory: ModelDirectory) -> None:
    names = directory.config.get("architectures")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return
    if not any(name.endswith(_LANGUAGE_MODELS) for name in names) and not _is_own_language_model(directory, names):
        raise bad_input(
            "no-language-model",
            f"{directory.path} is a {names[0]}, which has no language model head; only decoder-only language models can be planned.",
            directory.path,
        )


def _require_layers(directory: ModelDirectory, config: PreTrainedConfig) -> None:
    count = getattr(config, "num_hidden_layers", None)
    if isinstance(count, int) and count < 1:
        file, name = directory.path / "config.json", config.attribute_map.get("num_hidden_layers", "num_hidden_layers")
        raise bad_input("no-layers", f"{file} gives {name} as {count}, so the model has no layers; correct it.", file)


def _is_own_language_model(directory: ModelDirectory, names: list[str]) -> bool:
    """The model's own code says which class is its language model; names of own classes follow no rule, but those of other heads do."""
    auto_map = directory.config.get("auto_map")
    own = auto_map.get("AutoModelForCausalLM") if isinstance(auto_map, dict) else None
    return isinstance(own, str) and all(name == own.rpartition(".")[2] or not re.search("For[A-Z]", name) for name in names)


def _model_class(
    directory: ModelDirectory, config: PreTrainedConfig, trust_remote_code: bool, warnings: list[str]
) -> type[PreTrainedModel]:
    auto_map = getattr(config, "auto_map", None) or {}
    mapping = AutoModelForCausalLM._model_mapping
    if "AutoModelForCausalLM" in auto_map and trust_remote_code:
        from transformers.dynamic_module_utils import get_class_from_dynamic_module

        try:
            own = get_class_from_dynamic_module(auto_map["AutoModelForCausalLM"], str(directory.path), local_files_only=True)
            if own is not None:
                return own
        except Exception as error:  # foreign code raises anything
            raise bad_input(
                "bad-model-code", f"The model code of {directory.path} cannot be loaded: {one_line(error)}", directory.path
            ) from error
    if type(config) in mapping:
        if auto_map:
            warnings.append(f"{directory.path} brings its own model code; traced is {config.model_type} as transformers has it.")
        found = mapping[type(config)]
        native = found[0] if isinstance(found, (list, tuple)) else found
        if native is not None:
            return native
    raise bad_input(
        "no-language-model",
        f"{directory.path} is a {config.model_type} model, for which transformers has no causal language model; "
        "only decoder-only language models can be planned.",
        directory.path,
    )


def _checkpoint_dtype(directory: ModelDirectory, config: PreTrainedConfig) -> str:
    """Of the configuration, else the commonest floating-point dtype of the weights, else float32."""
    if config.dtype is not None:
        return str(config.dtype).removeprefix("torch.")
    found = [_FLOATS[header.dtype] for header in (directory.tensors or {}).values() if header.dtype in _FLOATS]
    return max(set(found), key=found.count) if found else "float32"


def _traced_dtype(wanted: str, checkpoint_dtype: str, warnings: list[str]) -> torch.dtype:
    if wanted != "auto":
        return getattr(torch, wanted)
    if checkpoint_dtype in ("float32", "bfloat16"):
        return getattr(torch, checkpoint_dtype)
    warnings.append(f"The checkpoint is in {checkpoint_dtype}, which the runtime does not compute in; traced in float32.")
    return torch.float32


def new_fake_mode() -> FakeTensorMode:
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def build(
    plan: Plan, config: PreTrainedConfig, *, dtype: torch.dtype, attention: str = plugin.NAME, experts: str = EXPERTS
) -> PreTrainedModel:
    """The model in evaluation mode, frozen. Call under a fake mode for a model without weights. The configuration is copied."""
    plugin.register()
    config = copy.deepcopy(config)
    try:
        model = plan.model_class._from_config(config, dtype=dtype, attn_implementation=attention)
    except TracerError:
        raise
    except Exception as error:  # constructors raise anything
        name = plan.model_class.__name__
        if isinstance(error, KeyError) and error.args == (attention,):
            raise not_traced(
                "no-attention",
                f"{name} chooses its attention from a table of its own instead of the attention interface of transformers, "
                "so its attention cannot be traced.",
                name,
            ) from error
        raise _not_built(name, config, error) from error
    _require_finite_rope(model)
    _keep_in_float32(model, dtype)
    if model._can_set_experts_implementation():
        model.set_experts_implementation(experts)
    return model.eval().requires_grad_(False)


def _not_built(name: str, config: PreTrainedConfig, error: Exception) -> TracerError:
    """Activations and rope types are looked up by name: a name that is not found is all that such an error says."""
    wanted = error.args[0] if isinstance(error, KeyError) and error.args else None
    if not isinstance(wanted, str):
        return not_traced("not-built", f"{name} cannot be built from its config.json: {one_line(error)}", name)
    keys = sorted({key for key, value in _entries(config.to_dict()) if value == wanted})
    if not keys:
        return not_traced("not-built", f"{name} cannot be built from its config.json: {wanted} is missing.", name)
    return bad_input(
        "unknown-name", f"config.json gives {' and '.join(keys)} as '{wanted}', which {name} does not know; correct it.", name
    )


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Keys and values at any depth."""
    for key, part in value.items() if isinstance(value, dict) else ():
        yield key, part
        yield from _entries(part)


def owners(model: PreTrainedModel) -> dict[torch.nn.Module, PreTrainedModel]:
    """For each module the innermost model around it: transformers initialises it by the _init_weights of that one."""
    models = [module for module in model.modules() if isinstance(module, PreTrainedModel)]
    return {module: inner for inner in models for module in inner.modules()}


def _require_finite_rope(model: PreTrainedModel) -> None:
    """Frequencies that are no numbers would be noticed much later, as a buffer that seems not to be filled in or as logits."""
    for module, owner in owners(model).items():
        names = [name for name in module._non_persistent_buffers_set if name.endswith("inv_freq")]
        parameters = getattr(getattr(module, "config", None), "rope_parameters", None)
        if names and parameters and not _fills_with_numbers(owner, module):
            given = [f"{key} {value}" for key, value in _entries(parameters) if isinstance(value, (int, float))]
            raise bad_input(
                "bad-rope",
                f"The rope parameters of config.json ({', '.join(given)}) give {type(model).__name__} rotary frequencies "
                "that are not finite; correct them.",
                type(module).__name__,
            )


def _fills_with_numbers(owner: PreTrainedModel, module: torch.nn.Module) -> bool:
    # Whoever builds a model for its structure alone does so on the meta device, which has no numbers.
    with unset_fake_temporarily(), torch.device("cpu"), torch.no_grad():
        filled = copy.copy(module)
        filled._buffers = {
            name: buffer if buffer is None else torch.zeros(buffer.shape, dtype=buffer.dtype) for name, buffer in module._buffers.items()
        }
        owner._init_weights(filled)
        return all(bool(buffer.isfinite().all()) for buffer in filled._buffers.values() if buffer is not None)


def _keep_in_float32(model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Parameters that transformers loads in float32 whatever the dtype of the model (router weights of DeepSeek, for instance)."""
    kept = model._get_dtype_plan(dtype)
    if not kept:
        return
    pattern = build_glob_alternation(list(kept))[0]
    made: dict[int, torch.nn.Parameter] = {}
    for prefix, module in model.named_modules():
        for name, value in module._parameters.items():
            if value is not None and value.dtype != torch.float32 and pattern.search(f"{prefix}.{name}"):
                module._parameters[name] = made.setdefault(id(value), torch.nn.Parameter(value.float(), requires_grad=False))


def decoder_facts(directory: ModelDirectory, config: PreTrainedConfig) -> dict[str, Any]:
    """Plain numbers of a configuration; missing ones are 0 or None."""
    context_length = getattr(config, "max_position_embeddings", 0) or 0
    return {
        "hidden_size": getattr(config, "hidden_size", 0) or 0,
        "num_layers": getattr(config, "num_hidden_layers", 0) or 0,
        "vocab_size": getattr(config, "vocab_size", 0) or 0,
        "context_length": min([context_length, *rope.limits(config).values()]),
        "eos_token_ids": _end_tokens(directory, config),
        "bos_token_id": config.bos_token_id,
    }


def _end_tokens(directory: ModelDirectory, config: PreTrainedConfig) -> list[int]:
    """Of generation_config.json, as generate() does it (chat models name their end of turn there), else of config.json."""
    file = directory.path / "generation_config.json"
    found = read_json(file).get("eos_token_id") if file.is_file() else None
    found = config.eos_token_id if found is None else found
    tokens = found if isinstance(found, list) else [found]
    return [token for token in tokens if isinstance(token, int) and not isinstance(token, bool)]
