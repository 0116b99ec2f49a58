"""The key under which a trace can be kept: equal keys mean equal traces. Imports neither torch nor transformers, so that it is quick."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .model_directory import ModelDirectory, open_directory, read_json
from .options import TraceOptions
from .same_bytes import same_bytes
from .version import VERSION

# Code of transformers outside of the models' own folders that decides what is traced.
_SHARED = (
    "masking_utils.py", "modeling_rope_utils.py", "modeling_layers.py", "activations.py", "conversion_mapping.py", "core_model_loading.py",
    "modeling_utils.py", "configuration_utils.py", "initialization.py", "integrations/moe.py", "pytorch_utils.py",
)  # fmt: skip


def cache_key(options: TraceOptions) -> str:
    """Hex digest over the configuration, the weights' names, shapes, dtypes and ties, all code that takes part, and the options."""
    directory = open_directory(options.model)
    parts: dict[str, Any] = {
        "tracer": [VERSION, _digest(_own_files())],
        "versions": {name: _version(name) for name in ("torch", "transformers")},
        "config": directory.config,
        "generation": _end_tokens(directory),
        "tensors": _tensors(directory),
        "equal": _equal_pairs(directory),
        "warnings": directory.warnings,  # they name the directory, and are part of the trace
        "source": _digest(_model_files(directory)),
        "options": [options.dtype, options.full, options.trust_remote_code, options.proof, options.replica],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _tensors(directory: ModelDirectory) -> Any:
    if directory.tensors is None:
        return None
    return sorted((name, header.file, header.dtype, header.shape) for name, header in directory.tensors.items())


def _end_tokens(directory: ModelDirectory) -> Any:
    """A model and its chat version often differ in nothing else outside of the weights."""
    file = directory.path / "generation_config.json"
    return read_json(file).get("eos_token_id") if file.is_file() else None


def _equal_pairs(directory: ModelDirectory) -> list[tuple[str, str]]:
    """Tensors outside of the layers that hold the same numbers: ties hold only where the checkpoint agrees (see ParameterMap.untied)."""
    tensors = directory.tensors or {}
    outer = sorted(name for name, header in tensors.items() if len(header.shape) > 1 and not any(map(str.isdigit, name.split("."))))
    return [pair for pair in itertools.combinations(outer, 2) if same_bytes(directory, *pair)]


def _own_files() -> Iterator[Path]:
    here = Path(__file__).parent
    yield from here.glob("*.py")
    yield from (here.parent / "workbench_ops").glob("*.py")


def _model_files(directory: ModelDirectory) -> Iterator[Path]:
    if "auto_map" in directory.config:
        yield from directory.path.rglob("*.py")
    root = _transformers()
    if root is None:
        return
    yield from (root / name for name in _SHARED)
    for config in (directory.config, directory.config.get("text_config")):
        if not isinstance(config, dict):
            continue
        yield from _model_folder(root, str(config.get("model_type", ""))).glob("*.py")


def _transformers() -> Path | None:
    spec = importlib.util.find_spec("transformers")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _model_folder(root: Path, model_type: str) -> Path:
    """models/gemma3 for gemma3_text: a text part lives in the folder of the model that it belongs to."""
    name = model_type.replace("-", "_")
    while name and not (root / "models" / name).is_dir():
        name = name.rpartition("_")[0]
    # A model whose folder is named otherwise: the list of all models at least changes with the version.
    return root / "models" / (name or "auto")


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in sorted({file for file in files if file.is_file()}):
        total.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()
