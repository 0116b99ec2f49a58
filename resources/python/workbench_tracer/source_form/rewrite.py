"""What a pattern wants changed in one forward, and what the binding must do to an instance for the new lines to run."""

from __future__ import annotations

from dataclasses import dataclass

from .forward import Forward
from .source_file import Edit


@dataclass(frozen=True)
class Merge:
    """Linear children that become one: `name` holds their weights and biases stacked along the rows, in this order.

    `sizes_attribute`, where not empty, is set on the instance to the rows of each, for the split."""

    name: str
    children: tuple[str, ...]
    sizes_attribute: str = ""


@dataclass(frozen=True)
class Rewrite:
    """One site's change. Equal (pattern, edits, merges) on two instances means the same text.

    `guard`: the lines run only where `self.<guard>` is true, so an instance where it is false may carry them too."""

    pattern: str
    forward: Forward
    instance: str
    edits: tuple[Edit, ...]
    merges: tuple[Merge, ...] = ()
    guard: str = ""
    bypassed: tuple[str, ...] = ()  # children that the new lines do the work of: hooks on them would no longer run
    partial: str = ""  # why only a part of the site's pattern is done, else empty

    @property
    def key(self) -> tuple[str, tuple[Edit, ...], tuple[Merge, ...]]:
        return self.pattern, self.edits, self.merges
