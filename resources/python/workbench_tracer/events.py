"""JSON lines on stdout: stages, then one `done` or `error`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from .errors import TracerError


class Events:
    """Writes events to the stdout of the process, whatever libraries print there meanwhile."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout

    def send(self, event: str, **fields: Any) -> None:
        self.print({"event": event, **fields})

    def print(self, value: dict[str, Any]) -> None:
        # Bytes of a file name that are no UTF-8 are lone surrogates here, which no JSON reader takes.
        self.stream.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8") + "\n")
        self.stream.flush()

    def stage(self, name: str, detail: str) -> None:
        self.send("stage", name=name, detail=detail)

    def error(self, error: TracerError) -> None:
        self.send("error", code=error.code, message=error.message, where=error.where)


@contextlib.contextmanager
def private_stdout() -> Iterator[Events]:
    """Events on the real stdout; everything else that is printed meanwhile goes to stderr."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    stream = os.fdopen(saved, "w", encoding="utf-8")
    try:
        yield Events(stream)
    finally:
        sys.stdout.flush()
        stream.flush()
        os.dup2(stream.fileno(), 1)
        stream.close()
