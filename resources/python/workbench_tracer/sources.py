"""Hashes of the Python files that a traced program was made from."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from torch import nn


def source_files(model: nn.Module) -> dict[str, str]:
    """File of every module class of the model -> sha256; torch's own files are left out, since its version is recorded."""
    files: dict[str, str] = {}
    for module_class in {type(module) for module in model.modules()}:
        name = module_class.__module__
        if name == "torch" or name.startswith("torch."):
            continue
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and file not in files and Path(file).is_file():
            files[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return dict(sorted(files.items()))
