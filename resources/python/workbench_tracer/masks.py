"""Reads what a transformers mask function means by walking its closure, and refuses whatever the attention op cannot express."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from transformers import masking_utils

from .errors import not_traced


@dataclass(frozen=True)
class Mask:
    """kind: causal | sliding | chunked | full. window: tokens, 0 unless sliding or chunked."""

    kind: str
    window: int


# Inner functions of masking_utils by qualified name: (kind, closure variable that holds the window).
_ATOMS = {
    "causal_mask_function": ("causal", None),
    "bidirectional_mask_function": ("full", None),
    "sliding_window_overlay.<locals>.inner_mask": ("sliding", "sliding_window"),
    "chunked_overlay.<locals>.inner_mask": ("chunked", "chunk_size"),
    # Packed sequences: the op finds the sequences in the positions by itself.
    "packed_sequence_mask_function.<locals>.inner_mask": ("packed", None),
}
_WRAPPERS = {"remap_positions_for_packed_sequence.<locals>.inner_mask": "mask_function"}


def read_mask(function: Callable[..., Any]) -> Mask:
    """Meaning of a mask function. Raises TracerError for one that is not a plain causal, sliding, chunked or full mask."""
    atoms = set(_atoms(function)) - {("packed", 0)}
    kinds = {kind for kind, _ in atoms}
    if kinds == {"causal"}:
        return Mask("causal", 0)
    if kinds == {"full"}:
        return Mask("full", 0)
    for kind in ("sliding", "chunked"):
        windows = {window for found, window in atoms if found == kind}
        if kinds == {"causal", kind} and len(windows) == 1:
            return Mask(kind, windows.pop())
    raise _refusal(f"the combination {' and '.join(sorted(f'{kind} {window}' if window else kind for kind, window in atoms))}")


def _atoms(function: Callable[..., Any]) -> Iterator[tuple[str, int]]:
    name = getattr(function, "__qualname__", type(function).__name__)
    if getattr(function, "__module__", None) != masking_utils.__name__:
        raise _refusal(f"the function {getattr(function, '__module__', '?')}.{name} of its own")
    closure = _closure(function)
    if name == "and_masks.<locals>.and_mask":
        for part in closure["mask_functions"]:
            yield from _atoms(part)
    elif name in _WRAPPERS:
        yield from _atoms(closure[_WRAPPERS[name]])
    elif name in _ATOMS:
        kind, variable = _ATOMS[name]
        window = 0 if variable is None else closure[variable]
        if not isinstance(window, int) or (variable is not None and window < 1):
            raise _refusal(f"a {kind} mask whose window is {window!r}")
        yield kind, window
    else:
        raise _refusal(f"{name.split('.')[0]} of transformers")


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    cells = getattr(function, "__closure__", None) or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}


def _refusal(what: str) -> Exception:
    return not_traced(
        "mask",
        f"The model builds its attention mask with {what}, which the attention op cannot express: "
        "only causal, sliding, chunked and full masks can be traced.",
    )
