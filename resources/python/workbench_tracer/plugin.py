"""The attention and mask functions that the tracer registers with transformers: attention becomes one opaque op per layer.

Every mask is the output of the opaque op `workbench::mask`. The attention call tells from the mask that reaches it which tokens its layer may
see; a model that uses a mask in any other way leaves that op in the graph, where the tracer finds it and refuses. So a mask that the op cannot
express matters only once an attention call gets it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import workbench_ops  # noqa: F401  (registers the ops)
from transformers import AttentionInterface, AttentionMaskInterface

from .errors import TracerError, not_traced
from .masks import Mask, read_mask

NAME = "workbench"

# Arguments of attention calls that have no influence on the numbers when caching, dropout and attention outputs are off.
_IGNORED = {
    "position_ids",
    "cache_position",
    "use_cache",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "layer_idx",
}


@dataclass(frozen=True)
class Call:
    """What one attention call said."""

    layer: int
    mask: Mask
    scale: float
    softcap: float
    sinks: bool


@dataclass
class Session:
    """One traced or plain forward: positions in, calls out. masks keeps the tensors alive, since they are found by identity."""

    positions: torch.Tensor
    masks: list[tuple[torch.Tensor, Mask | TracerError]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def mask_of(self, tensor: torch.Tensor | None) -> Mask | None:
        """Raises TracerError for a mask that the op cannot express."""
        mask = next((mask for known, mask in self.masks if known is tensor), None)
        if isinstance(mask, TracerError):
            raise mask
        return mask


_sessions: list[Session] = []


@contextlib.contextmanager
def session(positions: torch.Tensor) -> Iterator[Session]:
    """Attention calls inside use these positions [1, T]."""
    current = Session(positions)
    _sessions.append(current)
    try:
        yield current
    finally:
        _sessions.remove(current)


def register() -> None:
    """Makes `attn_implementation="workbench"` known to transformers. Harmless when repeated."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, make_mask)


def make_mask(
    *_: Any,
    mask_function: Any = None,
    attention_mask: torch.Tensor | None = None,
    q_offset: Any = 0,
    kv_offset: Any = 0,
    **__: Any,
) -> torch.Tensor:
    """The registered mask function: an opaque tensor that stands for the mask."""
    current = _sessions[-1]
    if attention_mask is not None or not _is_zero(q_offset) or not _is_zero(kv_offset):
        raise not_traced(
            "mask", "The model makes a padding mask or an offset mask of its own, which the attention op cannot express."
        )
    try:
        mask: Mask | TracerError = read_mask(mask_function)
    except TracerError as refusal:
        # Models make the masks of all kinds of layers that there are, also of kinds that they have no layer of.
        mask = refusal
    stands_for = mask if isinstance(mask, Mask) else Mask("full", 0)
    tensor = torch.ops.workbench.mask(current.positions, kind=stands_for.kind, window=stands_for.window)
    current.masks.append((tensor, mask))
    return tensor


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """The registered attention function: query [1, Hq, T, D], key and value [1, Hkv, T, D] -> [1, T, Hq, Dv]."""
    current = _sessions[-1]
    layer = _layer(module)
    where = f"attention of layer {layer} ({type(module).__name__})"
    mask = _checked_mask(current.mask_of(attention_mask), attention_mask, sliding_window, is_causal, where)
    unknown = sorted(name for name, given in others.items() if name not in _IGNORED and given is not None and given is not False)
    if unknown or dropout != 0.0:
        raise not_traced(
            "attention-argument",
            f"The {where} is called with {', '.join(unknown) or 'dropout'}, which the attention op does not have.",
            where,
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    for name, number in (("scale", scale), ("softcap", softcap)):
        if not isinstance(number, (int, float, type(None))):
            raise not_traced(
                "attention-argument", f"The {name} of the {where} is no number but a {type(number).__name__}.", where
            )
    call = Call(layer, mask, float(scale), float(softcap or 0.0), s_aux is not None)
    current.calls.append(call)
    output = torch.ops.workbench.attention(
        query, key, value, current.positions, layer=layer, scale=call.scale, mask=mask.kind, window=mask.window, softcap=call.softcap,
        sinks=s_aux, slopes=None,
    )  # fmt: skip
    return output, None


def _layer(module: torch.nn.Module) -> int:
    layer = getattr(module, "layer_idx", None)
    number = getattr(layer, "traced_layer", layer)
    if not isinstance(number, int):
        raise not_traced("attention-layer", f"{type(module).__name__} does not know its layer number (layer_idx is {layer!r}).")
    return number


def _checked_mask(mask: Mask | None, tensor: Any, sliding_window: int | None, is_causal: bool | None, where: str) -> Mask:
    if mask is None:
        what = "no mask" if tensor is None else "a mask that it changed itself"
        raise not_traced("mask", f"The {where} gets {what}, so which tokens see which is not known.", where)
    if sliding_window is not None and (mask.kind != "sliding" or mask.window != sliding_window):
        said = f"{mask.kind} {mask.window}" if mask.window else mask.kind
        raise not_traced("mask", f"The {where} is called with a window of {sliding_window}, but its mask is {said}.", where)
    if is_causal is not None and bool(is_causal) != (mask.kind != "full"):
        raise not_traced("mask", f"The {where} is called with is_causal={is_causal}, but its mask is {mask.kind}.", where)
    return mask
