"""Chooses which decoder layers are traced: each distinct one once where that is provably enough, else all of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import PreTrainedConfig, PreTrainedModel

from .build import Plan, build
from .computed import computed_buffers
from .layer_calls import Signature, Untraceable, record_calls
from .program import takes_flat_tokens
from .same_modules import Comparison, Different, Side, Unsure


@dataclass
class Layers:
    """model: what to trace. traced_as: for each layer of the whole model the traced layer that it is a copy of; None: nothing is a copy."""

    model: PreTrainedModel
    config: PreTrainedConfig
    prefix: str | None
    traced_as: list[int] | None
    traced: nn.ModuleList | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        if self.traced_as is None or self.traced is None:
            return f"all layers of {type(self.model).__name__}"
        return f"{len(self.traced)} of {len(self.traced_as)} layers of {type(self.model).__name__}"

    def of_copies(self, constants: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The constants that the traced layers make in their forward, under the names that each of their copies gives them, too."""
        named = dict(constants)
        for layer, traced in enumerate(self.traced_as or ()):
            own = f"{self.prefix}.{traced}."
            named.update(
                {f"{self.prefix}.{layer}.{name[len(own) :]}": value for name, value in constants.items() if name.startswith(own)}
            )
        return named

    def described(self) -> dict[str, Any] | None:
        if self.traced_as is None:
            return None
        return {"prefix": self.prefix, "count": len(self.traced_as), "traced_as": self.traced_as}


class _Whole(Exception):
    """Every layer has to be traced; the text says why."""


def find_layers(model: PreTrainedModel) -> tuple[str, nn.ModuleList] | None:
    """The list of decoder layers: the outermost list with as many entries as the configuration has layers."""
    count = getattr(model.config, "num_hidden_layers", None)
    lists = [
        (name, module) for name, module in model.named_modules() if isinstance(module, nn.ModuleList) and len(module) == count
    ]
    lists.sort(key=lambda entry: entry[0].count("."))
    if not count or not lists or (len(lists) > 1 and lists[1][0].count(".") == lists[0][0].count(".")):
        return None
    return lists[0]


def choose_layers(
    plan: Plan, whole: PreTrainedModel, mode: FakeTensorMode, computed: frozenset[str], *, force_full: bool = False
) -> Layers:
    """Gives the whole model and the chosen one a forward that takes flat tokens. computed: persistent buffers without a checkpoint."""
    takes_flat_tokens(whole)
    if force_full:
        return Layers(whole, plan.config, None, None)
    try:
        return _distinct_layers(plan, whole, mode, computed)
    except _Whole as reason:
        warning = f"Every layer of {type(whole).__name__} is traced by itself, which takes longer: {reason}."
        return Layers(whole, plan.config, None, None, warnings=[warning])


def _distinct_layers(plan: Plan, whole: PreTrainedModel, mode: FakeTensorMode, computed: frozenset[str]) -> Layers:
    found = find_layers(whole)
    if found is None:
        raise _Whole("its list of layers is not recognised")
    prefix, layers = found
    values = _values_by_id(whole, computed)
    side = Side((whole.config,), values, layers)
    try:
        with mode:
            signatures = record_calls(whole, layers)
        traced_as = _partition(side, layers, signatures)
        count = max(traced_as) + 1
        if count == len(layers):
            return Layers(whole, plan.config, None, None)
        config = cut_config(plan.config, len(layers), count)
        with mode:
            cut = build(plan, config, dtype=plan.dtype)
        takes_flat_tokens(cut)
        _prove_cut(side, whole, cut, count, computed)
        with mode:
            if record_calls(cut, _layers_of(cut)) != signatures[:count]:
                raise Different("the shortened model calls its layers in another way")
    except Untraceable as reason:
        raise _Whole(str(reason)) from reason
    except Different as reason:
        raise _Whole(f"a model with fewer layers differs in more than that ({reason})") from reason
    except Unsure as reason:
        raise _Whole(f"whether its layers are equal is not certain ({reason})") from reason
    return Layers(cut, config, prefix, traced_as, _layers_of(cut))


def _values_by_id(model: PreTrainedModel, computed: frozenset[str]) -> dict[int, torch.Tensor]:
    buffers = dict(model.named_buffers(remove_duplicate=False))
    return {id(buffers[name]): value for name, value in computed_buffers(model, computed).items()}


def _partition(side: Side, layers: nn.ModuleList, signatures: list[Signature]) -> list[int]:
    """For each layer the first layer that is the same."""
    firsts: list[int] = []
    result: list[int] = []
    for number, layer in enumerate(layers):
        same = next(
            (first for first in firsts if signatures[first] == signatures[number] and _equal(side, layers, first, number, layer)),
            number,
        )
        if same == number:
            firsts.append(number)
        result.append(same)
    return result


def _equal(side: Side, layers: nn.ModuleList, first: int, number: int, layer: nn.Module) -> bool:
    plain = Side(side.configs, side.values)
    try:
        Comparison(plain, plain, layer=(first, number)).same(layers[first], layer, "")
    except Different:
        return False
    return True


def cut_config(config: PreTrainedConfig, whole: int, count: int) -> PreTrainedConfig:
    """The same configuration with the first `count` layers: the layer count and every list with one entry per layer are cut together."""
    cut = copy.deepcopy(config)
    for name, value in list(cut.__dict__.items()):
        if isinstance(value, (list, tuple)) and len(value) == whole and name != "architectures":
            setattr(cut, name, value[:count])
        elif name == "mlp_only_layers" and isinstance(value, list):
            setattr(cut, name, [layer for layer in value if layer < count])
    cut.num_hidden_layers = count
    return cut


def _layers_of(model: PreTrainedModel) -> nn.ModuleList:
    found = find_layers(model)
    if found is None:
        raise Different("its list of layers is not recognised when it is shorter")
    return found[1]


def _prove_cut(side: Side, whole: PreTrainedModel, cut: PreTrainedModel, count: int, computed: frozenset[str]) -> None:
    """Everything outside of the layers is equal, and each layer of the cut model equals the one at its place. Raises Different or Unsure."""
    here = frozenset(name for name in computed if name in cut.state_dict())
    other = Side((cut.config,), _values_by_id(cut, here), _layers_of(cut))
    Comparison(side, other, compared_layers=count).same(whole, cut, type(whole).__name__)
