"""Runs a function in a forked child, beside what this process does meanwhile."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from .errors import TracerError

T = TypeVar("T")


class Beside(Generic[T]):
    """The function must need no thread of this process, and its result must be picklable."""

    def __init__(self, run: Callable[[], T]) -> None:
        self._run = run
        self._results, sender = multiprocessing.get_context("fork").Pipe(duplex=False)
        self._child = os.fork()
        if self._child == 0:
            _serve(run, sender)
        sender.close()

    def result(self) -> T:
        """Waits for the child; raises the TracerError that it ended with. Runs the function here where the child died."""
        try:
            found = self._results.recv()
        except EOFError:
            return self._run()
        if isinstance(found, _Failure):
            raise TracerError(*found.fields)
        return found  # type: ignore[no-any-return]

    def close(self) -> None:
        """Ends the child, whether it is done or not."""
        self._results.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._child, 0)


@contextlib.contextmanager
def beside(run: Callable[[], T]) -> Iterator[Beside[T]]:
    child = Beside(run)
    try:
        yield child
    finally:
        child.close()


class _Failure:
    def __init__(self, error: TracerError) -> None:
        self.fields = (error.code, error.message, error.where, error.exit_status)


def _serve(run: Callable[[], T], sender: Connection) -> None:
    """Never returns: what the parent still has to clean up is none of the child's business."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    try:
        try:
            sender.send(run())
        except TracerError as error:
            sender.send(_Failure(error))
    except BaseException:  # the parent meets it again, where it can be told
        os._exit(1)
    os._exit(0)
