"""`python -m workbench_tracer source-form --request FILE --out DIR`: JSON lines on stdout, exit status 0, 3 or 4."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .refusal import SourceFormError
from .request import Request, read_request

if TYPE_CHECKING:
    import torch

    from .check import Build


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="workbench_tracer source-form",
                                     description="Writes the forward of each rewritten module class, before and after.")
    parser.add_argument("--request", type=Path, required=True, help="JSON file with the model and the applied sites")
    parser.add_argument("--out", type=Path, required=True, help="folder to write; an earlier result there is replaced")
    options = parser.parse_args(argv)
    try:
        index = write_sources(options.request, options.out)
    except SourceFormError as error:
        _event({"event": "error", "code": error.code, "message": error.message, "where": error.where})
        return error.exit_status
    forms = sum(site["form"] is not None for site in index["sites"].values())
    _event({"event": "done", "out": str(options.out), "classes": len(index["classes"]), "sites": len(index["sites"]),
            "forms": forms})
    return 0


def _event(fields: dict[str, Any]) -> None:
    print(json.dumps(fields), flush=True)


def write_sources(request_path: Path, out: Path) -> dict[str, Any]:
    """Writes everything into a temporary sibling of `out` and renames it, so that `out` is whole or as it was."""
    request = read_request(request_path)
    _require_replaceable(out)
    _event({"event": "stage", "name": "build", "detail": str(request.model)})
    import torch

    from .models import build, load_config

    config = load_config(request.model, request.trust_remote_code)
    make = partial(build, config, request.model, request.trust_remote_code)
    with torch.device("meta"):
        model = make()
    _event({"event": "stage", "name": "write", "detail": f"{len(request.sites)} sites"})
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise SourceFormError("unwritable", f"{out} cannot be written: {error}", str(out)) from error
    try:
        index = _emit_checked(request, model, make, folder)
        folder.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        os.replace(folder, out)
    except OSError as error:
        raise SourceFormError("unwritable", f"{out} cannot be written: {error}", str(out)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return index


def _emit_checked(request: Request, model: torch.nn.Module, make: Build, folder: Path) -> dict[str, Any]:
    """Emits, runs what was emitted once without values, and emits again without the classes that do not run."""
    from .check import find_failures
    from .emit import emit

    index = emit(request, model, folder)
    _event({"event": "stage", "name": "check", "detail": f"{len(index['classes'])} classes"})
    unchecked, failures = find_failures(make, folder, index)
    if failures:
        for path in folder.iterdir():
            path.unlink()
    if failures or unchecked:
        index = emit(request, model, folder, failures, unchecked)
    return index


def _require_replaceable(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise SourceFormError("unwritable", f"{out} is a file, not a folder", str(out))
    if out.is_dir() and any(out.iterdir()) and not (out / "index.json").is_file():
        raise SourceFormError("unwritable", f"{out} holds other files; name an empty or new folder", str(out))


if __name__ == "__main__":
    sys.exit(main())
