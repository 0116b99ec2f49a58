"""Names, shapes and dtypes of safetensors files, from their headers alone. Every number of a header is checked against the file."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import bad_input

# Bits per element of every dtype of the format.
DTYPE_BITS = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "C64": 64,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E5M2FNUZ": 8,
    "F8_E4M3FNUZ": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}
# The format's own limit (100 MB); a longer header is damage, not a model.
HEADER_LIMIT_BYTES = 100_000_000


@dataclass(frozen=True)
class TensorHeader:
    file: str
    dtype: str
    shape: tuple[int, ...]


def read_header(path: Path) -> dict[str, TensorHeader]:
    """Tensors of one file, by name. Raises TracerError where the file is not what its header says."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(8)
            if len(start) < 8:
                raise bad_input(
                    "truncated-safetensors", f"{path} has {size} bytes, too few for a safetensors file; fetch it again.", path
                )
            (length,) = struct.unpack("<Q", start)
            if length > HEADER_LIMIT_BYTES or 8 + length > size:
                raise bad_input(
                    "bad-safetensors-header",
                    f"{path} says that its header has {length} bytes, but the file has {size}: it is truncated or no safetensors file.",
                    path,
                )
            text = file.read(length)
    except OSError as error:
        raise bad_input("unreadable", f"{path} cannot be read: {error.strerror}.", path) from error
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise bad_input("bad-safetensors-header", f"The header of {path} is no JSON; fetch the file again.", path) from error
    if not isinstance(entries, dict):
        raise bad_input("bad-safetensors-header", f"The header of {path} is no JSON object; fetch the file again.", path)
    data_bytes = size - 8 - length
    return {name: _tensor(path, name, entry, data_bytes) for name, entry in entries.items() if name != "__metadata__"}


def _tensor(path: Path, name: str, entry: Any, data_bytes: int) -> TensorHeader:
    def broken(what: str, code: str = "bad-safetensors-header") -> Exception:
        return bad_input(code, f"Tensor {name} of {path} {what}.", f"{path}:{name}")

    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise broken("lacks dtype, shape or data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in DTYPE_BITS:
        raise broken(f"has the unknown dtype {dtype}", "unknown-dtype")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise broken("has a shape or offsets that are no sizes")
    begin, end = offsets
    if begin > end or end > data_bytes:
        raise broken(
            f"ends at byte {end} of the data, but the file has only {data_bytes}: the file is truncated or its header is wrong",
            "truncated-safetensors",
        )
    if math.prod(shape) * DTYPE_BITS[dtype] != 8 * (end - begin):
        raise broken(f"has {end - begin} bytes, which do not fit the shape {list(shape)} of {dtype}")
    return TensorHeader(path.name, dtype, tuple(shape))


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values
    )
