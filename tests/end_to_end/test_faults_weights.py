"""A broken checkpoint gives one clear sentence, the right exit code, and leaves nothing behind."""

import json
import os
import struct

import zoo
from support import BAD_INPUT, refused

RUNS = {"command": ("verify",), "options": ("--apply-all", "--dump-logits", "out.safetensors")}


def test_truncated_safetensors(work, llama_copy):
    file = llama_copy / "model.safetensors"
    os.truncate(file, file.stat().st_size - 1000)
    refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def test_header_pointing_past_the_end(work, llama_copy):
    file = llama_copy / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(struct.pack("<Q", 1 << 40) + data[8:])
    refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def _rewrite_header(file, change):
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def test_offsets_past_the_end(work, llama_copy):
    def change(header):
        entry = header["model.norm.weight"]
        entry["data_offsets"] = [1 << 40, (1 << 40) + entry["data_offsets"][1] - entry["data_offsets"][0]]

    _rewrite_header(llama_copy / "model.safetensors", change)
    refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def test_unknown_dtype(work, llama_copy):
    _rewrite_header(llama_copy / "model.safetensors", lambda header: header["model.norm.weight"].update(dtype="F99"))
    refused(work, llama_copy, BAD_INPUT, "F99", **RUNS)


def test_wrong_shape(work, llama_copy):
    def change(header):
        header["model.norm.weight"]["shape"] = [30, 2]

    _rewrite_header(llama_copy / "model.safetensors", change)
    refused(work, llama_copy, BAD_INPUT, "model.norm.weight", **RUNS)


def test_missing_tensor(work, llama_copy):
    _rewrite_header(llama_copy / "model.safetensors", lambda header: header.pop("model.layers.1.mlp.up_proj.weight"))
    refused(work, llama_copy, BAD_INPUT, "model.layers.1.mlp.up_proj.weight", **RUNS)


def test_missing_shard(work, tmp_path):
    directory = tmp_path / "sharded"
    zoo.save("llama", directory, shard_bytes=150_000)
    shard = sorted(directory.glob("model-*.safetensors"))[1]
    shard.unlink()
    refused(work, directory, BAD_INPUT, shard.name, **RUNS)
