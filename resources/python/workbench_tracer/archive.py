"""Writes the traced program as a torch.export archive (.pt2) with its computed buffers and constants; other parameters have no data in it.

torch.export.save would write a broken archive here: fake tensors share one empty storage, so that every parameter gets the same empty file.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch._export.serde import schema
from torch._export.serde.serialize import (
    GraphModuleSerializer,
    _dataclass_to_dict,
    _to_json_bytes,
    serialize_range_constraints,
    serialize_tensor_meta,
)
from torch.export import ExportedProgram
from torch.export.pt2_archive import constants as layout

ROOT = "trace"
MODEL = "model"


def write_archive(
    file: Path, program: ExportedProgram, weights: dict[str, torch.Tensor], constants: dict[str, torch.Tensor]
) -> None:
    """weights: persistent entries of the state dict that have values. constants: non-persistent buffers and constants. All on the CPU."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        put = _Writer(archive)
        put.tensors(layout.WEIGHTS_DIR, layout.WEIGHT_FILENAME_PREFIX, layout.WEIGHTS_CONFIG_FILENAME_FORMAT, weights)
        put.tensors(
            layout.CONSTANTS_DIR, layout.TENSOR_CONSTANT_FILENAME_PREFIX, layout.CONSTANTS_CONFIG_FILENAME_FORMAT, constants
        )
        put.bytes(layout.MODELS_FILENAME_FORMAT.format(MODEL), program_json(program))
        put.bytes(layout.SAMPLE_INPUTS_FILENAME_FORMAT.format(MODEL), _sample_inputs(program))
        put.bytes(layout.ARCHIVE_FORMAT_PATH, layout.ARCHIVE_FORMAT_VALUE.encode())
        put.bytes(layout.ARCHIVE_VERSION_PATH, layout.ARCHIVE_VERSION_VALUE.encode())
        put.bytes(".data/version", b"3\n")
        put.bytes("byteorder", b"little")


def program_json(program: ExportedProgram) -> bytes:
    """models/model.json by torch's own serializer, without the pickled values that its ExportedProgramSerializer adds."""
    program.validate()
    graph = GraphModuleSerializer(program.graph_signature, program.module_call_graph).serialize(program.graph_module)
    for node in graph.graph.nodes:
        node.metadata = _lasting(node.metadata)
    major, minor = schema.SCHEMA_VERSION
    described = schema.ExportedProgram(
        graph_module=graph,
        opset_version={"aten": torch._C._get_max_operator_version()},
        range_constraints=serialize_range_constraints(program.range_constraints),
        schema_version=schema.SchemaVersion(major=major, minor=minor),
        verifiers=[verifier.dialect for verifier in program.verifiers],
        torch_version=torch.__version__,
        guards_code=program._guards_code,
    )
    return _to_json_bytes(described)


def _lasting(metadata: dict[str, str]) -> dict[str, str]:
    """Module path and source lines. from_node has object addresses, and the innermost caller is this package."""
    kept = {key: value for key, value in metadata.items() if key in ("nn_module_stack", "stack_trace")}
    if "stack_trace" in kept:
        frames = re.split(r"(?m)^(?= *File \")", kept["stack_trace"])
        kept["stack_trace"] = "".join(frame for frame in frames if f'File "{Path(__file__).parent}' not in frame).strip()
    return kept


class _Writer:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive

    def bytes(self, name: str, data: bytes) -> None:
        # A fixed date: equal traces are equal files.
        self.archive.writestr(zipfile.ZipInfo(f"{ROOT}/{name}", date_time=(1980, 1, 1, 0, 0, 0)), data)

    def tensors(self, folder: str, prefix: str, index_format: str, values: dict[str, torch.Tensor]) -> None:
        index: dict[str, Any] = {}
        for number, (name, value) in enumerate(sorted(values.items())):
            value = value.detach().contiguous()
            index[name] = schema.PayloadMeta(f"{prefix}{number}", False, False, serialize_tensor_meta(value))
            self.bytes(f"{folder}{prefix}{number}", value.flatten().view(torch.uint8).numpy().tobytes())
        self.bytes(index_format.format(MODEL), json.dumps(_dataclass_to_dict(schema.PayloadConfig(index))).encode())


def _sample_inputs(program: ExportedProgram) -> bytes:
    args, kwargs = program.example_inputs
    real = tuple(torch.zeros(value.shape, dtype=value.dtype) for value in args), dict(kwargs)
    buffer = io.BytesIO()
    torch.save(real, buffer)
    return buffer.getvalue()
