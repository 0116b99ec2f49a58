"""torch's own reading of the tracer's archives, whose parameters may have no data."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch._export.serde.schema import ExportedProgram
from torch._export.serde.serialize import _SERIALIZE_TO_TORCH_DTYPE, ExportedProgramDeserializer, _dict_to_dataclass


def load_trace(file: Path) -> torch.export.ExportedProgram:
    with zipfile.ZipFile(file) as archive:
        program = _dict_to_dataclass(ExportedProgram, json.loads(archive.read("trace/models/model.json")))
        stored = _stored(archive, "weights") | _stored(archive, "constants")
    state: dict[str, torch.Tensor] = {}
    constants: dict[str, torch.Tensor] = {}
    values = program.graph_module.graph.tensor_values
    for spec in program.graph_module.signature.input_specs:
        if spec.type == "parameter":
            name = spec.parameter.parameter_name
            value = stored.get(name, _empty(values[spec.parameter.arg.name]))
            state[name] = torch.nn.Parameter(value, requires_grad=False)
        elif spec.type == "buffer":
            name = spec.buffer.buffer_name
            (state if spec.buffer.persistent else constants)[name] = stored.get(name, _empty(values[spec.buffer.arg.name]))
    return ExportedProgramDeserializer().deserialize(program, state, constants, {}, _unsafe_skip_version_check=True)


def _stored(archive: zipfile.ZipFile, folder: str) -> dict[str, torch.Tensor]:
    index = json.loads(archive.read(f"trace/data/{folder}/model_{folder}_config.json"))["config"]
    return {name: _tensor(archive.read(f"trace/data/{folder}/{entry['path_name']}"), entry["tensor_meta"]) for name, entry in index.items()}


def _tensor(data: bytes, meta: dict[str, Any]) -> torch.Tensor:
    shape = [size["as_int"] for size in meta["sizes"]]
    return torch.frombuffer(bytearray(data), dtype=_SERIALIZE_TO_TORCH_DTYPE[meta["dtype"]]).reshape(shape)


def _empty(meta: Any) -> torch.Tensor:
    return torch.empty([size.as_int for size in meta.sizes], dtype=_SERIALIZE_TO_TORCH_DTYPE[meta.dtype])
