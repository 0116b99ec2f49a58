"""The tracer ends with its parent, in whatever way that ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from workbench_tracer import lifeline

PROGRAM = Path(lifeline.__file__)
WATCHED = {**os.environ, lifeline.VARIABLE: "0"}


def _start(code, tmp_path, **options):
    """A module that runs the code under a lifeline that is its stdin, in a process group of its own."""
    (tmp_path / "watched.py").write_text(code)
    return subprocess.Popen(
        [sys.executable, PROGRAM, "watched"],
        env={**WATCHED, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def test_the_end_of_the_parent_is_an_orderly_end(tmp_path):
    process = _start(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nprint('up', flush=True)\ntime.sleep(600)", tmp_path
    )
    assert process.stdout.readline() == "up\n"
    process.stdin.close()
    assert process.wait(60) == 7


def test_what_does_not_end_is_killed_with_its_children(tmp_path):
    process = _start(
        "import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '600'])\nprint(child.pid, flush=True)\ntime.sleep(600)",
        tmp_path,
    )
    child = int(process.stdout.readline())
    process.stdin.close()
    assert process.wait(60) == -signal.SIGKILL
    process.stdout.read()  # ends when the child has ended too
    assert not Path(f"/proc/{child}").exists() or "(zombie)" in Path(f"/proc/{child}/status").read_text()


def test_nobody_else_reads_the_lifeline(tmp_path):
    process = _start("import sys\nprint(repr(sys.stdin.read()))\nprint(sys.argv)", tmp_path)
    assert process.stdout.read() == f"''\n[{str(tmp_path / 'watched.py')!r}]\n"
    assert process.wait(60) == 0


def test_without_the_variable_nothing_is_watched():
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import lifeline, threading; lifeline.watch(); print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.stdout == "1\n"
