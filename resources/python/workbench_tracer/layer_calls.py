"""What the model hands to each of its layers: recorded by running the model with layers that only record.

Two equal layer modules are the same computation only when the loop around them treats them alike (the same rotary tables, the same mask, no
arithmetic between the layers). Object identity decides: one object handed to both, or equal plain values. A layer that is handed its own hidden
state a second time (the first one gets the embedding twice where all get the embedding too) is told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from . import plugin
from .program import example_inputs

Signature = tuple[Any, ...]


class Untraceable(Exception):
    """The layers cannot be told apart this way; the text says why."""


def record_calls(model: PreTrainedModel, layers: nn.ModuleList) -> list[Signature]:
    """One comparable value per layer. The model's forward must take flat tokens; call under its fake mode."""
    recorder = _Recorder(layers)
    originals = [layer.__dict__.get("forward") for layer in layers]
    inputs = example_inputs()
    try:
        for number, layer in enumerate(layers):
            layer.forward = recorder.stub(number, layer.forward)
        with torch.no_grad(), plugin.session(inputs[1]):
            model(*inputs)
    except Untraceable:
        raise
    except Exception as error:  # the model's code raises anything when its layers do not behave
        raise Untraceable(f"the model does not run without its layers: {error}") from error
    finally:
        for layer, original in zip(layers, originals, strict=True):
            del layer.forward
            if original is not None:
                layer.forward = original
    if len(recorder.signatures) != len(layers):
        raise Untraceable(f"{len(recorder.signatures)} of {len(layers)} layers are called")
    return recorder.signatures


class _Recorder:
    def __init__(self, layers: nn.ModuleList) -> None:
        self.layers = layers
        self.signatures: list[Signature] = []
        self.names: dict[int, int] = {}
        self.keep: list[Any] = []  # ids stay unique while the objects live
        self.output: torch.Tensor | None = None
        self.hidden: torch.Tensor | None = None  # of the layer that is being called
        self.returns_tuple = 0  # length of the tuple that a layer returns, 0 for a tensor

    def stub(self, number: int, forward: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if number != len(self.signatures):
                raise Untraceable(f"layer {number} is called out of order")
            if not args or not isinstance(args[0], torch.Tensor):
                raise Untraceable(f"layer {number} does not get the hidden state as its first argument")
            if number > 0 and args[0] is not self.output:
                raise Untraceable(f"layer {number} does not get the output of the layer before it")
            if number == 0:
                self._learn_result(forward(*args, **kwargs), args[0])
            self.hidden = args[0]
            self.signatures.append((self._sign(args[1:]), self._sign(kwargs)))
            self.output = torch.empty_like(args[0])
            return (self.output, *[None] * (self.returns_tuple - 1)) if self.returns_tuple else self.output

        return call

    def _learn_result(self, result: Any, hidden: torch.Tensor) -> None:
        first = result[0] if isinstance(result, tuple) and result else result
        if not isinstance(first, torch.Tensor) or first.shape != hidden.shape or first.dtype != hidden.dtype:
            raise Untraceable("a layer does not return a hidden state like the one that it gets")
        if isinstance(result, tuple):
            if any(entry is not None for entry in result[1:]):
                raise Untraceable("a layer returns more than its hidden state")
            self.returns_tuple = len(result)

    def _sign(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, str, torch.dtype)):
            return type(value).__name__, value
        if isinstance(value, float):
            return "float", value.hex()
        if isinstance(value, (tuple, list)):
            return type(value).__name__, tuple(self._sign(entry) for entry in value)
        if isinstance(value, dict):
            return "dict", tuple((key, self._sign(entry)) for key, entry in value.items())
        if value is self.hidden:
            return ("hidden state",)
        if not isinstance(value, (torch.Tensor, PreTrainedConfig)):
            raise Untraceable(f"a layer is handed a {type(value).__name__}, which may hold anything")
        self.keep.append(value)
        return "object", type(value).__name__, self.names.setdefault(id(value), len(self.names))
