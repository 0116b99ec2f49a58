"""Source form: the forward of each rewritten module class as readable source, as a diff, and bound to a live model."""

from __future__ import annotations

from .binding import bind, original_state_dict
from .cli import main, write_sources
from .refusal import BindError

__all__ = ["BindError", "bind", "main", "original_state_dict", "write_sources"]
