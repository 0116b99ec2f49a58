"""Rotary tables that transformers picks anew from the longest position in the batch (`longrope`, `dynamic`).

`longrope` has one table up to `original_max_position_embeddings` and another beyond; `dynamic` stretches its table once a position is past
`max_position_embeddings`. One long sequence would thus change the numbers of all others in its batch, which is no property of a model that
serves several requests. Up to that length the table is the one that the module was built with: it is what is traced, and the limit is told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import nn
from transformers import PreTrainedConfig

_PICKED = ("longrope", "dynamic")


def limits(config: PreTrainedConfig) -> dict[str, int]:
    """Rope types of the configuration that pick their table -> number of tokens up to which it is the first one."""
    parameters = getattr(config, "rope_parameters", None) or {}
    groups = [parameters] if "rope_type" in parameters else [group for group in parameters.values() if isinstance(group, dict)]
    longest = getattr(config, "max_position_embeddings", 0) or 0
    found: dict[str, int] = {}
    for group in groups:
        rope_type = str(group.get("rope_type"))
        if rope_type == "longrope":
            found[rope_type] = int(group.get("original_max_position_embeddings") or longest)
        elif "dynamic" in rope_type:
            found[rope_type] = longest
    return found


def warnings(config: PreTrainedConfig) -> list[str]:
    return [
        f"Rotary tables of type {rope_type} depend on the longest sequence in a batch; "
        f"traced is the table for up to {limit} tokens, longer sequences are not covered."
        for rope_type, limit in limits(config).items()
    ]


@contextlib.contextmanager
def first_tables(model: nn.Module) -> Iterator[None]:
    """Inside, rotary modules use the table that they were built with, whatever the positions."""
    changed: list[tuple[nn.Module, Any]] = []
    for module in model.modules():
        rope_type = module.__dict__.get("rope_type")
        fixed = _fixed(rope_type)
        if fixed != rope_type:
            changed.append((module, rope_type))
            module.rope_type = fixed
    try:
        yield
    finally:
        for module, rope_type in changed:
            module.rope_type = rope_type


def _fixed(rope_type: Any) -> Any:
    if isinstance(rope_type, dict):
        return {key: _fixed(value) for key, value in rope_type.items()}
    return "default" if isinstance(rope_type, str) and any(picked in rope_type for picked in _PICKED) else rope_type
