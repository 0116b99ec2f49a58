"""`python -m workbench_tracer source-form --request FILE --out DIR`: JSON lines on stdout, exit status 0, 3 or 4."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from ..commands import guarded
from ..events import Events, private_stdout
from ..output import whole_folder
from .check import find_failures
from .emit import INDEX, emit
from .models import Build, builder
from .request import Request, read_request


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="workbench_tracer source-form",
                                     description="Writes the forward of each rewritten module class, before and after.")
    parser.add_argument("--request", type=Path, required=True, help="JSON file with the model and the applied sites")
    parser.add_argument("--out", type=Path, required=True, help="folder to write; an earlier result there is replaced")
    parser.add_argument("--debug", action="store_true", help="print tracebacks on stderr")
    options = parser.parse_args(argv)
    with private_stdout() as events:
        return guarded(lambda: _run(options.request, options.out, events), events, options.debug)


def _run(request: Path, out: Path, events: Events) -> None:
    index = write_sources(request, out, events)
    forms = sum(site["form"] is not None for site in index["sites"].values())
    events.send("done", out=str(out), classes=len(index["classes"]), sites=len(index["sites"]), forms=forms)


def write_sources(request_path: Path, out: Path, events: Events) -> dict[str, Any]:
    """Writes the folder `out`, whole or not at all, and returns its index. Raises TracerError."""
    request = read_request(request_path)
    with whole_folder(out.absolute(), INDEX) as folder:
        events.stage("build", str(request.model))
        make = builder(request.model.absolute(), request.trust_remote_code)
        with torch.device("meta"):
            model = make()
        events.stage("write", f"{len(request.sites)} sites")
        return _emit_checked(request, model, make, folder, events)


def _emit_checked(request: Request, model: torch.nn.Module, make: Build, folder: Path, events: Events) -> dict[str, Any]:
    """Emits, runs what was emitted once without values, and emits again without the classes that do not run."""
    index = emit(request, model, folder)
    events.stage("check", f"{len(index['classes'])} classes")
    unchecked, failures = find_failures(make, folder, index)
    if failures:
        for path in folder.iterdir():
            path.unlink()
    if failures or unchecked:
        index = emit(request, model, folder, failures, unchecked)
    return index
