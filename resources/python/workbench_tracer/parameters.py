"""From the model's parameter names to the tensors of its checkpoint, as transformers would load them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightConverter, WeightRenaming, dot_natural_key, rename_source_key

from .conversions import ExpectedNames, Expression, Unsupported, convert, shape_of
from .errors import bad_input
from .model_directory import ModelDirectory
from .safetensors_header import TensorHeader
from .same_bytes import same_bytes

_READABLE = {"F32", "F16", "BF16"}


@dataclass
class ParameterMap:
    """parameters: for every parameter and persistent buffer of the whole model. tied: names that share one storage.

    computed: persistent buffers that the checkpoint does not have. untied: the configuration ties weights that the checkpoint holds apart.
    """

    parameters: dict[str, dict[str, Any]]
    tied: list[list[str]]
    computed: frozenset[str] = frozenset()
    warnings: list[str] = field(default_factory=list)
    untied: bool = False

    @classmethod
    def of(cls, model: PreTrainedModel, directory: ModelDirectory, text_part: bool = False) -> ParameterMap:
        """text_part: the checkpoint is that of a larger model around this one.

        Raises TracerError for tensors that are missing or have another shape.
        """
        state = model.state_dict(keep_vars=True)
        tied = _tied_groups(state)
        if directory.tensors is None:
            names = ExpectedNames(model)
            warnings: list[str] = []
            written = _written_names(model, tied)
            expressions = {name: names.expression(written.get(name, name), tuple(value.shape)) for name, value in state.items()}
        else:
            expressions, warnings = _found(model, state, directory, text_part)
        computed = _complete(model, state, tied, expressions, directory)
        parameters = {
            name: {"shape": list(value.shape), "dtype": _dtype(value), **expressions[name]}
            for name, value in state.items()
            if name in expressions
        }
        return cls(parameters, tied, computed, warnings, _holds_tied_apart(tied, expressions, directory))


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _tied_groups(state: dict[str, torch.Tensor]) -> list[list[str]]:
    groups: dict[int, list[str]] = {}
    for name, value in state.items():
        groups.setdefault(id(value), []).append(name)
    return [sorted(names) for names in groups.values() if len(names) > 1]


def _written_names(model: PreTrainedModel, tied: list[list[str]]) -> dict[str, str]:
    """For every tied name the one of its group under which transformers writes the weight."""
    left_out = getattr(model, "all_tied_weights_keys", None) or {}
    return {name: next((one for one in group if one not in left_out), group[0]) for group in tied for name in group}


def _transforms(model: PreTrainedModel) -> tuple[list[WeightRenaming], list[WeightConverter]]:
    transforms = get_model_conversion_mapping(model)
    return [one for one in transforms if isinstance(one, WeightRenaming)], [
        one for one in transforms if isinstance(one, WeightConverter)
    ]


def _found(
    model: PreTrainedModel, state: dict[str, torch.Tensor], directory: ModelDirectory, text_part: bool
) -> tuple[dict[str, Expression], list[str]]:
    """One expression per parameter that the checkpoint has. Follows convert_and_load_state_dict_in_model of transformers."""
    tensors = directory.tensors or {}
    renamings, converters = _transforms(model)
    by_pattern = {pattern: converter for converter in converters for pattern in converter.source_patterns}
    sources: dict[str, dict[str | None, list[str]]] = {}
    unused: list[str] = []
    for key in sorted(tensors, key=dot_natural_key):
        name, pattern = rename_source_key(
            _name_in_text_part(key) if text_part else key, renamings, converters, model.base_model_prefix, state
        )
        if name not in state and key in state:
            name, pattern = key, None
        if name in state:
            sources.setdefault(name, {}).setdefault(pattern, []).append(key)
        else:
            unused.append(key)
    expressions: dict[str, Expression] = {}
    warnings: list[str] = []
    for name, found in sources.items():
        converter = next((by_pattern[pattern] for pattern in found if pattern is not None), None)
        try:
            made = convert(name, converter, found)
        except Unsupported as error:
            warnings.append(
                f"{name} is made from {error.sources} checkpoint tensors by {error.operation}, which is not supported: "
                "the weights cannot be loaded."
            )
            expressions[name] = {"from": [], "op": "unsupported", "dim": 0}
            continue
        for target, expression in made.items():
            if target in state:
                _check(target, expression, state[target], tensors, directory)
                expressions[target] = expression
    unused = [key for key in unused if not _ignored(model, key)]
    if unused:
        warnings.append(
            f"{len(unused)} tensors of the checkpoint are not part of {type(model).__name__} (the first is {unused[0]}); they are not used."
        )
    return expressions, warnings


def _name_in_text_part(key: str) -> str:
    """model.language_model.layers.0 (older: language_model.model.layers.0) of a vision-language model is model.layers.0 of its text part."""
    key = re.sub(r"^(model\.)?(language_model|text_model)\.(?=lm_head\.)", "", key)
    return re.sub(
        r"^(language_model\.model|model\.language_model|model\.text_model|text_model\.model|language_model|text_model)\.",
        "model.",
        key,
    )


def _ignored(model: PreTrainedModel, key: str) -> bool:
    patterns = getattr(model, "_keys_to_ignore_on_load_unexpected", None) or ()
    return any(re.search(pattern, key) for pattern in (*patterns, r"rotary_emb\.inv_freq$"))


def _check(
    name: str, expression: Expression, value: torch.Tensor, tensors: dict[str, TensorHeader], directory: ModelDirectory
) -> None:
    for source in _leaves(expression):
        header = tensors[source]
        if header.dtype not in _READABLE and value.dtype.is_floating_point:
            quantised = header.dtype in ("U8", "I8", "F4") or header.dtype.startswith(("F8_", "F6_"))
            hint = "this is a quantised checkpoint; use the unquantised model" if quantised else "convert it to F32 or BF16"
            raise bad_input(
                "unsupported-dtype",
                f"Tensor {source} of {directory.path / header.file} is {header.dtype}, not F32, F16 or BF16: {hint}.",
                f"{header.file}:{source}",
            )
    shape = shape_of(expression, tensors)
    if shape != tuple(value.shape):
        source = next(_leaves(expression))
        raise bad_input(
            "wrong-shape",
            f"Tensor {source} of {directory.path / tensors[source].file} gives the shape {list(shape or ())}, "
            f"but config.json makes {name} {list(value.shape)}.",
            f"{tensors[source].file}:{source}",
        )


def _leaves(expression: Expression) -> Any:
    for part in expression["from"]:
        if "tensor" in part:
            yield part["tensor"]
        else:
            yield from _leaves(part)


def _complete(
    model: PreTrainedModel,
    state: dict[str, torch.Tensor],
    tied: list[list[str]],
    expressions: dict[str, Expression],
    directory: ModelDirectory,
) -> frozenset[str]:
    """Gives tied names the expression of their group; returns buffers to compute. Raises TracerError where a parameter is missing."""
    for group in tied:
        known = next((expressions[name] for name in group if name in expressions), None)
        if known is not None:
            for name in group:
                expressions.setdefault(name, known)
    missing = [name for name in state if name not in expressions]
    parameters = [name for name in missing if isinstance(state[name], torch.nn.Parameter)]
    if parameters:
        raise bad_input(
            "missing-tensor",
            f"The weights of {directory.path} have no tensor for {parameters[0]}"
            + (f" and {len(parameters) - 1} other parameters" if len(parameters) > 1 else "")
            + f" of {type(model).__name__}; they belong to another model or are incomplete.",
            parameters[0],
        )
    return frozenset(missing)


def _holds_tied_apart(tied: list[list[str]], expressions: dict[str, Expression], directory: ModelDirectory) -> bool:
    """transformers ties weights that are both in the checkpoint only where their values are equal."""
    if directory.tensors is None:
        return False
    for group in tied:
        names = list(dict.fromkeys(itertools.chain.from_iterable(_leaves(expressions[name]) for name in group)))
        if any(not same_bytes(directory, names[0], other) for other in names[1:]):
            return True
    return False
