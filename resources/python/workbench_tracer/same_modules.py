"""Are two modules of fully built models the same computation? Compared recursively: class, structure, shapes, dtypes, scalars, constants.

Only the layer number (`layer_idx`) may differ, and only where it is the position of the layer in its list.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedConfig

_SCALARS = (bool, int, str, bytes, complex, type(None), torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format)
# Read by generate() only, and not a plain value.
_IRRELEVANT = {"generation_config"}


class Different(Exception):
    """The modules are not the same; the text says where."""


class Unsure(Exception):
    """An attribute has a type whose equality says nothing about the computation; the text says where."""


@dataclass(frozen=True)
class Side:
    """One of the two models. configs: its configuration objects by role. values: computed buffers by id of the tensor in the module."""

    configs: tuple[PreTrainedConfig, ...]
    values: dict[int, torch.Tensor] = field(default_factory=dict)
    layers: nn.ModuleList | None = None


@dataclass
class Comparison:
    """compared_layers: how many entries of the layer lists are compared (and at the same position) when whole models are compared."""

    left: Side
    right: Side
    layer: tuple[int, int] | None = None
    compared_layers: int = 0
    _open: set[tuple[int, int]] = field(default_factory=set)

    def same(self, left: Any, right: Any, path: str = "") -> None:
        """Raises Different or Unsure."""
        if left is right:
            return
        if type(left) is not type(right):
            raise Different(f"{path}: {type(left).__name__} and {type(right).__name__}")
        pair = (id(left), id(right))
        if pair in self._open:
            return  # a cycle: the pair is being compared further up
        self._open.add(pair)
        try:
            self._rule(left)(left, right, path)
        finally:
            self._open.discard(pair)

    def _rule(self, value: Any) -> Callable[[Any, Any, str], None]:
        if isinstance(value, nn.Module):
            return self._modules
        if isinstance(value, torch.Tensor):
            return self._tensors
        if isinstance(value, PreTrainedConfig):
            return self._configs
        if isinstance(value, float):
            return self._floats
        if isinstance(value, (enum.Enum, type, types.BuiltinFunctionType)):
            return self._never_equal
        if isinstance(value, _SCALARS):
            return self._scalars
        if isinstance(value, dict):
            return self._dicts
        if isinstance(value, (list, tuple)):
            return self._sequences
        if isinstance(value, (set, frozenset)):
            return self._sets
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            return self._functions
        return self._unknown

    def _modules(self, left: nn.Module, right: nn.Module, path: str) -> None:
        if left is self.left.layers and right is self.right.layers and left is not None:
            self._layer_lists(left, right, path)
            return
        if left.__dict__.keys() != right.__dict__.keys():
            raise Different(f"{path}: attributes {sorted(left.__dict__.keys() ^ right.__dict__.keys())}")
        for name, value in left.__dict__.items():
            other = right.__dict__[name]
            if name in _IRRELEVANT or (name == "layer_idx" and self._are_layer_numbers(value, other)):
                continue
            self.same(value, other, f"{path}.{name}")

    def _layer_lists(self, left: Any, right: Any, path: str) -> None:
        outer = self.layer
        try:
            for number in range(self.compared_layers):
                self.layer = (number, number)
                self.same(left[number], right[number], f"{path}.{number}")
        finally:
            self.layer = outer

    def _are_layer_numbers(self, left: Any, right: Any) -> bool:
        return self.layer is not None and type(left) is int and type(right) is int and (left, right) == self.layer

    def _tensors(self, left: torch.Tensor, right: torch.Tensor, path: str) -> None:
        def meta(value: torch.Tensor) -> tuple[Any, ...]:
            return tuple(value.shape), value.stride(), value.dtype, value.device, value.requires_grad

        if meta(left) != meta(right):
            raise Different(f"{path}: {list(left.shape)} {left.dtype} and {list(right.shape)} {right.dtype}")
        known = self.left.values.get(id(left)), self.right.values.get(id(right))
        if known[0] is not None and known[1] is not None:
            if not torch.equal(known[0], known[1]):
                raise Different(f"{path}: other values")
        elif "._parameters." not in path and "._buffers." not in path:
            raise Unsure(f"{path} is a tensor that is neither parameter nor buffer")
        # else: a parameter or a persistent buffer, whose values come from the checkpoint

    def _configs(self, left: PreTrainedConfig, right: PreTrainedConfig, path: str) -> None:
        for one, other in zip(self.left.configs, self.right.configs, strict=True):
            if left is one and right is other:
                return
        self.same(left.__dict__, right.__dict__, path)

    def _floats(self, left: float, right: float, path: str) -> None:
        if left.hex() != right.hex():
            raise Different(f"{path}: {left} and {right}")

    def _never_equal(self, left: Any, right: Any, path: str) -> None:
        raise Different(f"{path}: {left} and {right}")

    def _scalars(self, left: Any, right: Any, path: str) -> None:
        if left != right:
            raise Different(f"{path}: {left} and {right}")

    def _dicts(self, left: dict[Any, Any], right: dict[Any, Any], path: str) -> None:
        if list(left) != list(right):
            raise Different(f"{path}: other keys")
        for key, value in left.items():
            if not isinstance(key, (str, int, type(None))):
                raise Unsure(f"{path} has a key of type {type(key).__name__}")
            self.same(value, right[key], f"{path}.{key}")

    def _sequences(self, left: Any, right: Any, path: str) -> None:
        if len(left) != len(right):
            raise Different(f"{path}: {len(left)} and {len(right)} entries")
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            self.same(one, other, f"{path}[{number}]")

    def _sets(self, left: Any, right: Any, path: str) -> None:
        if not all(isinstance(entry, _SCALARS) for entry in left | right):
            raise Unsure(f"{path} is a set of objects")
        if left != right:
            raise Different(f"{path}: {sorted(map(str, left ^ right))}")

    def _functions(self, left: Any, right: Any, path: str) -> None:
        parts: tuple[Any, ...]
        if isinstance(left, functools.partial):
            parts = (left.func, left.args, left.keywords), (right.func, right.args, right.keywords)
        elif isinstance(left, types.MethodType):
            parts = (left.__func__, left.__self__), (right.__func__, right.__self__)
        else:
            if left.__code__ is not right.__code__ or left.__globals__ is not right.__globals__:
                raise Different(f"{path}: functions {left.__qualname__} and {right.__qualname__}")
            parts = tuple((_cells(one), one.__defaults__, one.__kwdefaults__, one.__dict__) for one in (left, right))
        self.same(parts[0], parts[1], path)

    def _unknown(self, left: Any, right: Any, path: str) -> None:
        raise Unsure(f"{path} is a {type(left).__name__}")


def _cells(function: types.FunctionType) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]
