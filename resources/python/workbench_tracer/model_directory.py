"""A model directory as files: config.json and the headers of the weights. Knows what it cannot be asked to trace; imports no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import bad_input, one_line
from .safetensors_header import TensorHeader, read_header

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
# Ten times what the deepest models have.
MOST_LAYERS = 10_000
_LAYERS = {"num_hidden_layers", "num_layers", "n_layer", "n_layers"}


@dataclass(frozen=True)
class ModelDirectory:
    """tensors: by checkpoint name; None where there are no weights. warnings: sentences for the user."""

    path: Path
    config: dict[str, Any]
    tensors: dict[str, TensorHeader] | None
    warnings: tuple[str, ...] = ()


def open_directory(path: Path) -> ModelDirectory:
    """Reads and checks config.json and all weight headers. Raises TracerError."""
    if not path.exists():
        raise bad_input("no-such-directory", f"{path} does not exist; name a model directory with a config.json.", path)
    if not path.is_dir():
        raise bad_input("not-a-directory", f"{path} is a file; name a model directory with a config.json.", path)
    _refuse_adapter(path)
    config = read_config(path)
    _refuse_quantised(path, config)
    _refuse_named_weights(path, config)
    tensors, warnings = _read_tensors(path)
    return ModelDirectory(path, config, tensors, tuple(warnings))


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object. Raises TracerError naming the file."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise bad_input("unreadable", f"{file} cannot be read: {error.strerror}.", file) from error
    except (ValueError, RecursionError) as error:
        detail = _fault(error)
        raise bad_input("broken-json", f"{file} is no valid JSON ({detail}); fetch or correct it.", file) from error
    if not isinstance(value, dict):
        raise bad_input("broken-json", f"{file} holds a JSON {type(value).__name__}, not an object; fetch or correct it.", file)
    return value


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}: {error.msg}"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    return "nested too deeply" if isinstance(error, RecursionError) else one_line(error)


def read_config(path: Path) -> dict[str, Any]:
    file = path / "config.json"
    if not file.is_file():
        if (path / "params.json").is_file():
            hint = "it has params.json, the layout of the original release: use the Hugging Face version of the model"
        elif any(path.glob("*.gguf")):
            hint = "it has GGUF files: convert them into a Hugging Face model directory first"
        else:
            hint = "it is no Hugging Face model directory"
        raise bad_input("no-config", f"{path} has no config.json; {hint}.", path)
    config = read_json(file)
    _refuse_numbers(file, config)
    if not isinstance(config.get("text_config") or {}, dict):
        raise bad_input("bad-config", f"{file} gives text_config as something else than an object; correct it.", file)
    if not isinstance(config.get("model_type"), str):
        if "auto_map" not in config:
            raise bad_input("no-model-type", f"{file} has no model_type, so the kind of the model is unknown; add it.", file)
    return config


def _refuse_numbers(file: Path, config: dict[str, Any]) -> None:
    """Numbers that nothing can be made of, before hours and all memory are spent on trying."""
    waiting: list[tuple[str, Any]] = list(config.items())
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((name, entry) for entry in value)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise bad_input("bad-number", f"{file} gives {name} as a number that does not fit into 64 bits; correct it.", file)
        elif isinstance(value, int) and name in _LAYERS and value > MOST_LAYERS:
            raise bad_input("bad-number", f"{file} gives {name} as {value}, more than the {MOST_LAYERS} that are planned.", file)


def _refuse_adapter(path: Path) -> None:
    file = path / "adapter_config.json"
    if not file.is_file():
        return
    adapter = read_json(file)
    kind, base = adapter.get("peft_type", "PEFT"), adapter.get("base_model_name_or_path", "its base model")
    raise bad_input(
        "adapter",
        f"{path} holds a {kind} adapter for {base}, not a whole model; open the base model or merge the adapter into it.",
        path,
    )


def quantisation(config: dict[str, Any]) -> str | None:
    """Name of the method of a quantised checkpoint."""
    for holder in (config, config.get("text_config")):
        if not isinstance(holder, dict):
            continue
        settings = holder.get("quantization_config") or holder.get("compression_config")
        if not isinstance(settings, dict):
            continue
        method = settings.get("quant_method")
        if method is None and (settings.get("load_in_4bit") or settings.get("load_in_8bit")):
            method = "bitsandbytes"
        return str(method or settings.get("format") or "of an unknown method")
    return None


def _refuse_quantised(path: Path, config: dict[str, Any]) -> None:
    method = quantisation(config)
    if method is not None:
        raise bad_input(
            "quantised",
            f"{path} is a quantised checkpoint ({method}), whose linear layers are not the ones traced here; use the unquantised model.",
            path / "config.json",
        )


def _refuse_named_weights(path: Path, config: dict[str, Any]) -> None:
    named = config.get("transformers_weights")
    if named is not None and named != SINGLE and not (named == INDEX and not (path / SINGLE).is_file()):
        raise bad_input(
            "named-weights",
            f"{path / 'config.json'} names its weights file {named} (transformers_weights), which is not supported: call it {SINGLE}.",
            path / "config.json",
        )


def _read_tensors(path: Path) -> tuple[dict[str, TensorHeader] | None, list[str]]:
    index, single = path / INDEX, path / SINGLE
    if single.is_file():  # as transformers does, which leaves an index beside it alone
        return read_header(single), _shards_beside(index)
    if index.is_file():
        return _read_shards(path, read_json(index)), []
    others = sorted(file for file in path.glob("*.safetensors") if file.is_file())
    if others:
        return {name: header for file in others for name, header in read_header(file).items()}, [
            f"{path} has weights but no {INDEX}; all its safetensors files are taken together."
        ]
    pickles = sorted(file.name for pattern in ("*.bin", "*.pth") for file in path.glob(pattern))
    if pickles:
        return None, [f"{path} has its weights in pickled files ({pickles[0]}), which are never read; planned without weights."]
    return None, []


def named_shards(index: Path) -> set[str] | None:
    """The files that an index names; None where it is not there or broken, which is told by whoever reads its tensors."""
    try:
        return {str(shard) for shard in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _shards_beside(index: Path) -> list[str]:
    shards = (named_shards(index) or set()) - {SINGLE}
    if not shards:
        return []
    return [
        f"{index.parent} has {SINGLE} and a {INDEX} that names other files ({min(shards)}): {SINGLE} is read, as transformers does; "
        "delete what is left of another save."
    ]


def _read_shards(path: Path, index: dict[str, Any]) -> dict[str, TensorHeader]:
    file = path / INDEX
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(shard, str) for shard in weight_map.values()):
        raise bad_input("bad-index", f"{file} has no weight_map from tensors to files; fetch it again.", file)
    headers: dict[str, dict[str, TensorHeader]] = {}
    for shard in sorted(set(weight_map.values())):
        if Path(shard).name != shard:
            raise bad_input("bad-index", f"{file} names the file {shard} outside of the model directory.", file)
        if not (path / shard).is_file():
            raise bad_input("missing-shard", f"{path / shard} is missing, but {file.name} names it; fetch it.", path / shard)
        headers[shard] = read_header(path / shard)
    missing = next((name for name, shard in weight_map.items() if name not in headers[shard]), None)
    if missing is not None:
        raise bad_input(
            "missing-tensor", f"Tensor {missing} is not in {path / weight_map[missing]}, where {file.name} says it is.", missing
        )
    return {name: headers[shard][name] for name, shard in weight_map.items()}
