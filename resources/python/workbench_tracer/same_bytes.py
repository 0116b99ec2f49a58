"""Compares two tensors of a checkpoint byte by byte."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from .model_directory import ModelDirectory

_CHUNK_BYTES = 4 << 20


def same_bytes(directory: ModelDirectory, first: str, second: str) -> bool:
    """False as soon as a difference is found, so that only equal tensors are read in full. Both names must be in the directory."""
    headers = [(directory.tensors or {})[name] for name in (first, second)]
    if headers[0].dtype != headers[1].dtype or headers[0].shape != headers[1].shape:
        return False
    places = [_place(directory.path / header.file, name) for header, name in zip(headers, (first, second), strict=True)]
    with (directory.path / headers[0].file).open("rb") as one, (directory.path / headers[1].file).open("rb") as other:
        one.seek(places[0][0])
        other.seek(places[1][0])
        left = places[0][1]
        while left > 0:
            size = min(left, _CHUNK_BYTES)
            if one.read(size) != other.read(size):
                return False
            left -= size
    return True


def _place(file: Path, name: str) -> tuple[int, int]:
    """Byte offset in the file and length."""
    with file.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        begin, end = json.loads(stream.read(length))[name]["data_offsets"]
    return 8 + length + begin, end - begin
