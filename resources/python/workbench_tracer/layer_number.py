"""A layer number that tells when it is used for anything but naming the layer.

Layers that are equal as modules could still compute with their number in forward (`scale / (self.layer_idx + 1)`). While one layer is traced
on behalf of others, its number is replaced by an object that can be passed on but not be computed with unnoticed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import nn


class LayerNumber:
    """traced_layer: the number. used: names of the operations that were tried on it."""

    def __init__(self, traced_layer: int, used: list[str]) -> None:
        self.traced_layer = traced_layer
        self.used = used

    def __repr__(self) -> str:
        return str(self.traced_layer)


def _observed(name: str) -> Any:
    def operation(self: LayerNumber, *arguments: Any) -> Any:
        self.used.append(name)
        return getattr(self.traced_layer, name)(*arguments)

    return operation


# What is done to any object: it is made, asked for its class and attributes, copied.
_UNOBSERVED = {
    "__new__", "__init__", "__class__", "__getattribute__", "__setattr__", "__delattr__", "__doc__", "__init_subclass__",
    "__subclasshook__", "__dir__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getstate__", "__sizeof__",
}  # fmt: skip
for _name in dir(int):
    if _name.startswith("__") and _name not in LayerNumber.__dict__ and _name not in _UNOBSERVED:
        setattr(LayerNumber, _name, _observed(_name))


@contextlib.contextmanager
def observed_numbers(layers: nn.ModuleList) -> Iterator[list[str]]:
    """Replaces the layer numbers in all modules below the layers; yields the list of uses."""
    used: list[str] = []
    replaced: list[tuple[nn.Module, int]] = []
    for number, layer in enumerate(layers):
        for module in layer.modules():
            if type(module.__dict__.get("layer_idx")) is int and module.layer_idx == number:
                module.__dict__["layer_idx"] = LayerNumber(number, used)
                replaced.append((module, number))
    try:
        yield used
    finally:
        for module, number in replaced:
            module.__dict__["layer_idx"] = number
