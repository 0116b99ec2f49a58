"""Proves the attention plug-in: the exported program of a small random model of the same classes gives the numbers of transformers eager.

The reference runs each sequence alone. transformers' own packed run is no reference: it is wrong for models that keep the positions from their
mask (GPT-OSS: 0.9 of the largest logit).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from .beside import Beside, beside
from .build import Plan, build, new_fake_mode
from .errors import TracerError, not_traced, one_line
from .layers import cut_config
from .plugin import Call
from .program import Traced, example_inputs, takes_flat_tokens, trace
from .replica import VOCABULARY, randomise, reduced_config

# Rounding reaches 2e-6, a scale wrong by 5 % at least 4e-3.
TOLERANCE = 1e-4
SEQUENCES = (13, 20)
# A router may choose another expert where two weigh the same to the last bit; other weights then tell rounding from a wrong number.
SEEDS = (1, 2, 3)
FEW_LAYERS = 8


@dataclass(frozen=True)
class Proof:
    reference: str
    dtype: str
    sequences: tuple[int, ...]
    max_abs_error: float
    relative_error: float
    tolerance: float

    def described(self) -> dict[str, Any]:
        return {**asdict(self), "sequences": list(self.sequences)}


@dataclass(frozen=True)
class _SmallRun:
    """What the small model showed: its attention calls, and absolute and relative error for each seed that was tried."""

    calls: tuple[Call, ...]
    errors: tuple[tuple[float, float], ...]


class Proving:
    """The small model of `config` runs beside the export of the large one, as far as it does not depend on what that says."""

    def __init__(self, plan: Plan, config: PreTrainedConfig, early: Beside[_SmallRun] | None) -> None:
        self._plan = plan
        self._config = config
        self._early = early

    def finish(self, config: PreTrainedConfig, calls: tuple[Call, ...]) -> Proof:
        """config: that of the traced model. calls: its attention calls, whose kinds the small model must make too. Raises TracerError."""
        name = self._plan.model_class.__name__
        if self._early and config is self._config:
            calls = _enough(calls)
            run = self._early.result()
        else:
            config, calls = _shortened(self._plan, config, calls)
            run = _run_small(self._plan, config)
        _require_same_calls(calls, run.calls, name)
        absolute, relative = min(run.errors, key=lambda pair: pair[1])
        if not relative <= TOLERANCE:
            raise _not_proven(
                f"{name} gives other logits than transformers eager, relative error {relative:.1e}, tolerance {TOLERANCE:.0e}"
            )
        return Proof("transformers eager", "float32", SEQUENCES, absolute, relative, TOLERANCE)


@contextlib.contextmanager
def proving(plan: Plan, config: PreTrainedConfig) -> Iterator[Proving]:
    """Of many layers only those are run that the large model's calls ask for, so that there is no early start."""
    if _layer_count(config) > FEW_LAYERS:
        yield Proving(plan, config, None)
        return
    with beside(lambda: _run_small(plan, config)) as early:
        yield Proving(plan, config, early)


def _run_small(plan: Plan, config: PreTrainedConfig) -> _SmallRun:
    name = plan.model_class.__name__
    small = reduced_config(config)
    try:
        ours = build(plan, small, dtype=torch.float32)
        reference = build(plan, small, dtype=torch.float32, attention="eager", experts="eager")
        _require_same_classes(ours, reference)
        takes_flat_tokens(ours)
        traced = trace(ours, example_inputs())
        errors: list[tuple[float, float]] = []
        for seed in SEEDS:
            errors.append(_error(traced, ours, reference, seed))
            if errors[-1][1] <= TOLERANCE:
                break
    except TracerError as error:
        if error.code == "not-proven":
            raise
        raise _not_proven(f"at a reduced size, {error.message.rstrip('.')}") from error
    except Exception as error:  # a model that does not run at a reduced size raises anything
        raise _not_proven(f"{name} does not run at a reduced size ({one_line(error)})") from error
    return _SmallRun(traced.calls, tuple(errors))


def _layer_count(config: PreTrainedConfig) -> int:
    return int(getattr(config, "num_hidden_layers", 0) or 0)


def _shortened(plan: Plan, config: PreTrainedConfig, calls: tuple[Call, ...]) -> tuple[PreTrainedConfig, tuple[Call, ...]]:
    """The whole depth where a model does not come with its first layers alone: those that share keys are counted from the last one."""
    count, enough = _layer_count(config), _enough(calls)
    if len(enough) >= count:
        return config, enough
    cut = cut_config(config, count, len(enough))
    try:
        with new_fake_mode():
            build(plan, cut, dtype=torch.float32)
    except TracerError:
        return config, calls
    return cut, enough


def _enough(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """All calls of a few layers; of many, as many of the first ones as have every kind, since depth adds time and no kind."""
    last = max(next(number for number, one in enumerate(calls) if _kind(one) == kind) for kind in {_kind(call) for call in calls})
    return calls if len(calls) <= FEW_LAYERS else calls[: max(last + 1, FEW_LAYERS)]


def _kind(call: Call) -> tuple[str, float, bool]:
    return call.mask.kind, call.softcap, call.sinks


def _not_proven(what: str) -> TracerError:
    return not_traced("not-proven", f"The attention plug-in is not proven for this model: {what}.")


def _require_same_classes(ours: PreTrainedModel, reference: PreTrainedModel) -> None:
    if [type(module) for module in ours.modules()] != [type(module) for module in reference.modules()]:
        raise _not_proven("its modules depend on the attention implementation")


def _require_same_calls(large: tuple[Call, ...], small: tuple[Call, ...], name: str) -> None:
    """Mask kinds, softcap and sinks per layer; windows and scales are reduced with the sizes."""

    def kinds(calls: tuple[Call, ...]) -> list[Any]:
        return [(call.layer, *_kind(call)) for call in calls]

    if kinds(large) != kinds(small):
        raise _not_proven(f"a smaller {name} calls its attention in another way")
    longest = max(call.mask.window for call in small)
    if longest >= min(SEQUENCES):
        raise _not_proven(f"the window of {longest} tokens cannot be reduced")


def _error(traced: Traced, ours: PreTrainedModel, reference: PreTrainedModel, seed: int) -> tuple[float, float]:
    """Largest absolute error and its ratio to the largest logit, over two packed sequences with their rows in another order."""
    randomise(reference, seed)
    generator = torch.Generator().manual_seed(seed)
    sequences = [torch.randint(VOCABULARY, (length,), generator=generator) for length in SEQUENCES]
    rows = torch.randperm(sum(SEQUENCES), generator=generator)
    with torch.no_grad():
        expected = torch.cat([reference(input_ids=ids[None], use_cache=False).logits[0] for ids in sequences])[rows]
        ours.load_state_dict(reference.state_dict())
        positions = torch.cat([torch.arange(len(ids)) for ids in sequences])
        found = traced.program.module()(torch.cat(sequences)[None], positions[None], rows)[0]
    largest = float(expected.abs().max())
    if found.shape != expected.shape or not math.isfinite(largest) or largest == 0.0:
        raise _not_proven("its logits are not finite or have another shape")
    absolute = float((found - expected).abs().max())
    return absolute, absolute / largest
