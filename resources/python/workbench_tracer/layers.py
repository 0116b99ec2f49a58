"""Which layers are traced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from transformers import PreTrainedModel


@dataclass
class Layers:
    model: PreTrainedModel
    prefix: str | None
    traced_as: list[int] | None
    summary: str
    warnings: list[str] = field(default_factory=list)

    def described(self) -> dict[str, Any] | None:
        if self.traced_as is None:
            return None
        return {"prefix": self.prefix, "count": len(self.traced_as), "traced_as": self.traced_as}


def choose_layers(plan, whole, mode, computed, force_full=False) -> Layers:
    return Layers(whole, None, None, "all layers")
