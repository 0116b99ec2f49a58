"""The two ways in which a source form ends early: one site that has none, or a request that cannot be served."""

from __future__ import annotations


class Refusal(Exception):
    """A site has no source form; the text is one sentence that says why, and where."""


class SourceFormError(Exception):
    """The whole request fails: `code` is kebab-case, the text one sentence, `where` a file or module."""

    def __init__(self, code: str, message: str, where: str = "", exit_status: int = 3) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.exit_status = exit_status


class BindError(Exception):
    """Emitted sources do not fit the model they are bound to; the model is left as it was."""
