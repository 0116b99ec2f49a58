"""A result folder that appears whole or not at all, also when the process is told to stop."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from .errors import bad_input

MARKER = "trace.json"
# Errors of writing that name no file.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


@contextlib.contextmanager
def whole_folder(out: Path, marker: str = MARKER) -> Iterator[Path]:
    """A temporary sibling of `out` to write into; renamed to `out` at the end, removed on failure, SIGTERM and SIGINT.

    `marker`: the file by which an earlier result, which may be replaced, is told from a folder of the user's.
    """
    _require_replaceable(out, marker)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise bad_input("unwritable", f"{out} cannot be written: {error.strerror}.", out) from error
    try:
        with _signals_raise():
            try:
                yield folder
                folder.chmod(0o755)
                _replace(folder, out, marker)
            except OSError as error:
                if error.errno not in _NO_ROOM and not str(error.filename or "").startswith(str(folder)):
                    raise  # about something else than the result
                raise bad_input("unwritable", f"{out} cannot be written: {error.strerror or error}.", out) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _require_replaceable(out: Path, marker: str) -> None:
    if out.exists() and not out.is_dir():
        raise bad_input("unwritable", f"{out} is a file, not a folder; name another.", out)
    if out.is_dir() and any(out.iterdir()) and not (out / marker).is_file():
        raise bad_input("unwritable", f"{out} holds files that are no earlier result; name an empty or new folder.", out)


def _replace(folder: Path, out: Path, marker: str) -> None:
    """Rename over an older result. Where another process was faster with a whole one, theirs stays."""
    if out.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        os.replace(out, old / "old")
        shutil.rmtree(old, ignore_errors=True)
    try:
        os.rename(folder, out)
    except OSError:
        if not (out / marker).is_file():
            raise


class Stopped(BaseException):
    """The parent wants the process to end."""


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
