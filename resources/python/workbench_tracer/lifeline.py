"""Ends this process when its parent ends, however that happens. A parent that wants this holds the write end of a pipe.

As a program it does so for any module: `python lifeline.py MODULE ARGUMENTS...` is `python -m MODULE ARGUMENTS...`.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

VARIABLE = "WORKBENCH_LIFELINE"
GRACE_SECONDS = 2.0


def watch() -> None:
    """Watches the descriptor that WORKBENCH_LIFELINE names; does nothing without it. Takes it from whoever would read it."""
    number = os.environ.pop(VARIABLE, "")
    if not number.isdigit():
        return
    pipe = os.dup(int(number))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, int(number))
    os.close(null)
    threading.Thread(target=_await_end, args=(pipe,), name="lifeline", daemon=True).start()


def _await_end(pipe: int) -> None:
    try:
        while os.read(pipe, 4096):
            pass
    except OSError:  # no pipe that could end
        return
    os.kill(os.getpid(), signal.SIGTERM)  # an orderly end, which removes what is half written
    time.sleep(GRACE_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    watch()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
