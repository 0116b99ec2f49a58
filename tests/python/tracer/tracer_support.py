"""Traces in this process, reads traces back, and runs them with weights."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch._export.serde import schema
from torch._export.serde.serialize import _dataclass_to_dict, serialize_tensor_meta
from workbench_tracer.errors import TracerError
from workbench_tracer.events import Events
from workbench_tracer.options import TraceOptions
from workbench_tracer.trace import run

PACKED = (13, 20)


@dataclass(frozen=True)
class Trace:
    """A trace folder and its sidecar."""

    folder: Path
    described: dict[str, Any]

    @property
    def program(self) -> dict[str, Any]:
        with zipfile.ZipFile(self.folder / "trace.pt2") as archive:
            return json.loads(archive.read("trace/models/model.json"))

    @property
    def constants(self) -> list[str]:
        with zipfile.ZipFile(self.folder / "trace.pt2") as archive:
            return list(json.loads(archive.read("trace/data/constants/model_constants_config.json"))["config"])

    @property
    def nodes(self) -> list[dict[str, Any]]:
        return self.program["graph_module"]["graph"]["nodes"]

    def calls(self) -> list[dict[str, Any]]:
        """Arguments of the attention nodes by name, plain values only."""
        return [arguments(node) for node in self.nodes if node["target"].startswith("torch.ops.workbench.attention")]


def arguments(node: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: next(iter(entry["arg"].values())) for entry in node["inputs"]}


def trace(model: Path, out: Path, **options: Any) -> Trace:
    run(TraceOptions(model, out, **options), Events(io.StringIO()))
    return Trace(out, json.loads((out / "trace.json").read_text()))


def refusal(model: Path, out: Path, **options: Any) -> TracerError:
    """The error of a trace that must fail, after checking that nothing was written and that it is one sentence."""
    try:
        trace(model, out, **options)
    except TracerError as error:
        assert not out.exists() and not list(out.parent.glob(f".{out.name}.*"))
        assert "\n" not in error.message and len(error.message) > 20 and "Traceback" not in error.message
        return error
    raise AssertionError("the model was traced")


def checkpoint(model: Path) -> dict[str, torch.Tensor]:
    return {name: value for file in sorted(model.glob("*.safetensors")) for name, value in load_file(file).items()}


def value_of(expression: dict[str, Any], tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    """Evaluates an entry of trace.json's `parameters`."""
    parts = [tensors[part["tensor"]] if "tensor" in part else value_of(part, tensors) for part in expression["from"]]
    if expression["op"] == "copy":
        (only,) = parts
        return only
    return {"cat": torch.cat, "stack": torch.stack}[expression["op"]](parts, dim=expression["dim"])


def load_with_weights(trace: Trace, model: Path, file: Path) -> torch.export.ExportedProgram:
    """torch.export.load of the archive after its parameters were put in from the checkpoint."""
    tensors = checkpoint(model)
    signature = trace.program["graph_module"]["signature"]["input_specs"]
    names = [spec["parameter"]["parameter_name"] for spec in signature if "parameter" in spec]
    names += [spec["buffer"]["buffer_name"] for spec in signature if "buffer" in spec and spec["buffer"]["persistent"]]
    index: dict[str, schema.PayloadMeta] = {}
    with zipfile.ZipFile(trace.folder / "trace.pt2") as old, zipfile.ZipFile(file, "w") as new:
        for item in old.infolist():
            if not item.filename.endswith("model_weights_config.json"):
                new.writestr(item.filename, old.read(item))
        for number, name in enumerate(names):
            value = value_of(trace.described["parameters"][name], tensors).contiguous()
            index[name] = schema.PayloadMeta(f"weight_{number}", True, False, serialize_tensor_meta(value))
            new.writestr(f"trace/data/weights/weight_{number}", value.flatten().view(torch.uint8).numpy().tobytes())
        new.writestr("trace/data/weights/model_weights_config.json", json.dumps(_dataclass_to_dict(schema.PayloadConfig(index))))
    return torch.export.load(file)


def packed_tokens(vocabulary: int, lengths: tuple[int, ...] = PACKED) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """Sequences, and their tokens and positions side by side [1, T]."""
    generator = torch.Generator().manual_seed(7)
    sequences = [torch.randint(vocabulary, (length,), generator=generator) for length in lengths]
    return sequences, torch.cat(sequences)[None], torch.cat([torch.arange(length) for length in lengths])[None]


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    assert found.shape == expected.shape
    return float((found - expected).abs().max() / expected.abs().max())
