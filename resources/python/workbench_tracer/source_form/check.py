"""Runs the emitted sources once without values: shapes, views and gradients must work before anyone is given them.

What only shows at run time, such as a view that a slice of a merged projection does not allow, is found here.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from ..errors import one_line
from .binding import bind
from .models import Build

Key = tuple[str, str]

_SHAPE = (2, 5)  # sequences, tokens


def find_failures(build: Build, folder: Path, index: dict[str, Any]) -> tuple[str, dict[Key, str]]:
    """(why nothing could be checked, or empty; the reason of each (module, class) whose new forward does not run)."""
    if not index["classes"]:
        return "", {}
    eager = _failure(build, None)
    if eager:
        return f"the model itself does not run without values: {eager}", {}
    if not _failure(build, folder):
        return "", {}
    failures: dict[Key, str] = {}
    for entry in index["classes"]:
        with tempfile.TemporaryDirectory() as alone:
            shutil.copy(folder / entry["python"], alone)
            (Path(alone) / "index.json").write_text(json.dumps(index | {"classes": [entry]}), encoding="utf-8")
            reason = _failure(build, Path(alone))
        if reason:
            key = (entry["module"], entry["class"])
            failures[key] = f"{entry['class']}.forward, rewritten, does not run: {reason}"
    if not failures:
        return "the rewritten classes run one by one but not together", {
            (entry["module"], entry["class"]): "the rewritten classes run one by one but not together" for entry in index["classes"]}
    return "", failures


def _failure(build: Build, folder: Path | None) -> str:
    """The exception that one training step without values raises; empty when it runs."""
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.enable_grad():
            model = build().train().requires_grad_(True)
            if folder is not None:
                bind(model, folder)
            model(input_ids=torch.zeros(_SHAPE, dtype=torch.int64), use_cache=False).logits.sum().backward()
    except Exception as error:  # any exception of the model's code is the answer that is asked for
        return one_line(error)
    return ""
