"""The one kind of failure that the tracer reports: a code, one sentence, a place, an exit status."""

from __future__ import annotations

BAD_INPUT = 3
NOT_TRACED = 4


class TracerError(Exception):
    """message: what, where, what to do. where: file, tensor or module, empty where there is none."""

    def __init__(self, code: str, message: str, where: str = "", exit_status: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.exit_status = exit_status


def bad_input(code: str, message: str, where: object = "") -> TracerError:
    """The model directory or an option is at fault."""
    return TracerError(code, message, str(where), BAD_INPUT)


def not_traced(code: str, message: str, where: object = "") -> TracerError:
    """The input is fine, but the model cannot be traced."""
    return TracerError(code, message, str(where), NOT_TRACED)


def one_line(error: BaseException, limit: int = 300) -> str:
    """The text of a foreign exception on one line, shortened."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."
