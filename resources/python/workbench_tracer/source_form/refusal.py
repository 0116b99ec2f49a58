"""The ways in which a source form ends early, short of a request that cannot be served (TracerError)."""

from __future__ import annotations


class Refusal(Exception):
    """A site has no source form; the text is one sentence that says why, and where."""


class BindError(Exception):
    """Emitted sources do not fit the model they are bound to; the model is left as it was."""
