"""Expressions over checkpoint tensors: {"op": "copy" | "cat" | "stack", "dim", "from": [{"tensor"} or a nested expression]}."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import (
    Concatenate,
    MergeModulelist,
    PrefixChange,
    WeightConverter,
    WeightRenaming,
    apply_renamings,
)

from .safetensors_header import TensorHeader

Expression = dict[str, Any]


class Unsupported(Exception):
    """A conversion of transformers that no expression stands for."""

    def __init__(self, operation: str, sources: int) -> None:
        super().__init__(operation)
        self.operation = operation
        self.sources = sources


def copy(tensor: str) -> Expression:
    return {"from": [{"tensor": tensor}], "op": "copy", "dim": 0}


def convert(name: str, converter: WeightConverter | None, found: dict[str | None, list[str]]) -> dict[str, Expression]:
    """Expressions by target name for one group of checkpoint tensors. found: source pattern -> checkpoint names in order."""
    if converter is None:
        # The last of several tensors for one name wins in transformers; the order is that of loading.
        return {name: copy(found[None][-1])}
    merged: dict[str, list[Expression]] = {
        pattern: [copy(key) for key in found[pattern]] for pattern in converter.source_patterns if pattern in found
    }
    for operation in converter.operations:
        if isinstance(operation, MergeModulelist):
            merged = {pattern: [_join("stack", operation.dim, parts)] for pattern, parts in merged.items()}
        elif isinstance(operation, Concatenate):
            merged = {name: [_join("cat", operation.dim, [part for parts in merged.values() for part in parts])]}
        else:
            raise Unsupported(type(operation).__name__, sum(len(keys) for keys in found.values()))
    parts = [part for parts in merged.values() for part in parts]
    if len(parts) != 1:
        raise Unsupported("+".join(type(operation).__name__ for operation in converter.operations), len(parts))
    return {name: parts[0]}


def _join(op: str, dim: int, parts: list[Expression]) -> Expression:
    """A copy inside of another expression is its tensor."""
    return {"from": [part["from"][0] if part["op"] == "copy" else part for part in parts], "op": op, "dim": dim}


def shape_of(expression: Expression, tensors: dict[str, TensorHeader]) -> tuple[int, ...] | None:
    """None where the parts do not fit together."""
    parts = [tensors[part["tensor"]].shape if "tensor" in part else shape_of(part, tensors) for part in expression["from"]]
    first, dim = parts[0], expression["dim"]
    if first is None or expression["op"] == "copy":
        return first
    if expression["op"] == "stack":
        return (*first[:dim], len(parts), *first[dim:]) if all(part == first for part in parts) else None
    rest = [part[:dim] + part[dim + 1 :] if part is not None else None for part in parts]
    if any(other != rest[0] for other in rest):
        return None
    return (*first[:dim], sum(part[dim] for part in parts if part is not None), *first[dim + 1 :])


class ExpectedNames:
    """Without a checkpoint: the tensors that transformers would write for a model that was made from its configuration."""

    def __init__(self, model: PreTrainedModel) -> None:
        transforms = [one for one in get_model_conversion_mapping(model, add_legacy=False) if not isinstance(one, PrefixChange)]
        self.converters = [one for one in transforms if isinstance(one, WeightConverter)]
        # What loading does first, writing does last.
        reverse = [one.reverse_transform() for one in reversed(transforms)]
        self.renamings = [one for one in reverse if isinstance(one, WeightRenaming)]

    def expression(self, name: str, shape: tuple[int, ...]) -> Expression:
        """For a parameter; its own name where the conversion is none of stacked experts."""
        for converter in self.converters:
            prefix, found, suffix = name.partition(converter.target_patterns[0])
            kinds = [type(operation) for operation in converter.operations]
            starred = all("*" in pattern for pattern in converter.source_patterns)
            if found and not suffix and starred and kinds in ([MergeModulelist], [MergeModulelist, Concatenate]):
                sources: dict[str | None, list[str]] = {
                    pattern: [self._written(prefix + pattern.replace("*", str(expert))) for expert in range(shape[0])]
                    for pattern in converter.source_patterns
                }
                return convert(name, converter, sources)[name]
        return copy(self._written(name))

    def _written(self, name: str) -> str:
        return apply_renamings(name, self.renamings)
