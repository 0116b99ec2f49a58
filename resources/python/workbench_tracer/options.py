"""What a user can ask of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TraceOptions:
    model: Path
    out: Path
    dtype: str = "auto"  # auto | float32 | bfloat16
    full: bool = False
    trust_remote_code: bool = False
    proof: bool = True
    replica: bool = False  # a reduced-size copy with random weights instead of the model itself
